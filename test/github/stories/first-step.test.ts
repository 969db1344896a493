/** What stands between a webhook and the first step of its job: requests to GitHub, one after another. */
import { expect } from 'vitest';
import type { FakeRequest } from '../fake/server.ts';
import { githubStory } from './github-world.ts';

githubStory(
  'a job begins two requests in a row after its webhook, and no report holds it up',
  {},
  async world => {
    const { github, stage } = world;
    world.free();
    // Installation, tokens and rules are asked for once for all pull requests.
    const first = await world.open();
    await world.leaves(first, 'SUCCESS', 'check');
    await github.settled();
    const begun = Promise.withResolvers<readonly FakeRequest[]>();
    const from = github.requests.length;
    stage.onCall(({ changes }) => {
      if (changes !== String(first.number)) begun.resolve(github.requests.slice(from));
    });
    github.faults.add({ operation: 'checks/create', does: { kind: 'after', what: () => begun.promise } });
    // Neither question about the repository is answered before the other one has come.
    const fetches = Promise.withResolvers<void>();
    let fetching = 0;
    const both = () => {
      fetching += 1;
      if (fetching === 2) fetches.resolve();
      return fetches.promise;
    };
    github.faults.add({
      path: /^\/acme\/app\.git\/git-upload-pack/,
      times: 2,
      does: { kind: 'after', what: both },
    });
    const second = await world.open({ files: { 'second.txt': 'x\n' } });
    const requests = (await begun.promise).map(nameOf);
    // What GitHub reports of the first one's check run may be read only now.
    const ofSecond = requests.filter(
      each => each === `PullState ${second.number}` || each.includes('/acme/app.git'),
    );
    expect(ofSecond.slice(0, 1)).toEqual([`PullState ${second.number}`]);
    // Side by side: where the branch is now, and the objects of the change.
    expect(ofSecond.slice(1).toSorted()).toEqual([
      'POST /acme/app.git/git-upload-pack',
      'POST /acme/app.git/git-upload-pack',
    ]);
    // The playbooks' project is looked at meanwhile, and is as it was.
    expect(requests.filter(each => each.includes('/org/config.git'))).toEqual([
      'POST /org/config.git/git-upload-pack',
    ]);
    await world.leaves(second, 'SUCCESS', 'check');
  },
);

function nameOf({ operation, method, path, body }: FakeRequest): string {
  if (operation !== 'graphql') return `${method} ${path.replace(/\?.*/, '')}`;
  const { query = '', variables = {} } = body as {
    readonly query?: string;
    readonly variables?: { readonly number?: number };
  };
  return `${/query (\w+)/.exec(query)?.[1] ?? 'unknown'} ${variables.number ?? ''}`.trimEnd();
}
