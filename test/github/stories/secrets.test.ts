/** No key and no token of a connection is where it does not belong, also when GitHub fails and says them back. */
import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { TOKEN } from '../../scenario/site.ts';
import { githubStory } from './github-world.ts';
import { filesBelow, secretsOf } from './secrets.ts';

githubStory(
  'no secret is in spans, log, store, API, reports or argument lists',
  { keepsLog: true, expectedTrouble: [/./], connection: ['sweep_interval = 1', 'admin_reviews = true'] },
  async world => {
    const { github, app, api, observer, sink, log } = world;
    const pull = await world.open();
    await world.runs('unit: 1');
    const newest = () => github.credentials.issued().at(-1) ?? '';
    // GitHub, or a proxy before it, answers with what it was sent.
    const echo = { kind: 'status', status: 500, message: `no server takes ${newest()}` } as const;
    github.faults.add({ operation: 'graphql', times: 2, does: echo });
    github.faults.add({ operation: 'checks/update', does: { ...echo, status: 422 } });
    github.faults.add({ operation: 'git/push', does: { ...echo, status: 403 } });
    github.revokeInstallationTokens('acme');
    // So do questions of sweeps, about reviewers, and of people.
    for (const operation of ['apps/list-webhook-deliveries', 'repos/get-collaborator-permission-level'])
      github.faults.add({ operation, times: 3, does: echo });
    github.faults.add({ operation: 'issues/create-comment', does: { ...echo, status: 422 } });
    // It answers our own question about commits with the token as well; git then asks, and waits. Or git lists the branches.
    github.faults.add({ path: /git-upload-pack$/, times: 2, does: echo });
    github.faults.add({ path: /info\/refs/, does: { kind: 'hang' } });
    const greetings = () => github.requests.filter(({ path }) => path.includes('/info/refs')).length;
    const before = greetings();
    world.free();
    const other = await world.open();
    await github.review(app, other, 'bob', 'APPROVED');
    const argumentLists = await observer.until('git to ask GitHub', async () => {
      // A question may have been on its way to an end when it was counted: the next one hangs.
      if (greetings() === before) return undefined;
      const all = (await running()).join('\n');
      return / (?:fetch|ls-remote) /.test(all) && all;
    });
    github.faults.heal();
    await github.comment(app, other, 'bob', '/gatehouse why');
    await observer.until('the second to be merged', () => other.now.merged);
    await world.leaves(pull, 'SUCCESS', 'check');
    await github.settled();

    const paths = ['status', 'items?limit=100', `changes/${other.number}/decisions?project=acme/app`];
    const answers = await Promise.all(paths.map(each => api.get(`/api/tenant/tenant-one/${each}`)));
    const places = {
      spans: sink.requests.map(({ body }) => body.toString('latin1')).join('\n'),
      log: log.all.join('\n'),
      store: await filesBelow(world.state),
      api: JSON.stringify(answers),
      reports: JSON.stringify([app.checks, app.statuses, [...app.pulls.values()].map(each => each.comments)]),
      arguments: argumentLists,
    };
    const secrets = secretsOf(github, TOKEN);
    expect(github.credentials.issued().length).toBeGreaterThan(2);
    for (const [place, text] of Object.entries(places)) {
      expect([place, text.length > 100]).toEqual([place, true]);
      expect([place, secrets.filter(secret => text.includes(secret))]).toEqual([place, []]);
      // The App's own tokens, which GitHub does not issue.
      expect([place, /\beyJ[\w-]+\.eyJ[\w-]+\.[\w-]{40,}/.test(text)]).toEqual([place, false]);
    }
  },
);

/** Arguments of every process of this machine. */
async function running(): Promise<readonly string[]> {
  const ids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  const read = ids.map(id => readFile(`/proc/${id}/cmdline`, 'latin1').catch(() => ''));
  return (await Promise.all(read)).map(text => text.replaceAll('\0', ' '));
}
