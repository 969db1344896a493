/** The service ends while GitHub does what it asked for, and the next one does nothing a second time. */
import { expect } from 'vitest';
import type { FaultRule } from '../../fake/code-host/faults.ts';
import { git } from '../fake/bare-git.ts';
import { githubLayout } from './github-layout.ts';
import { type GithubWorld, githubStory } from './github-world.ts';

/** `landing`: the request that lands. `commits`: on the branch, beside the first. */
const WAYS = [
  { landing: 'push', mode: 'merge', lands: { operation: 'git/push', method: 'POST' }, commits: 2 },
  { landing: 'api', mode: 'squash-merge', lands: { operation: 'pulls/merge' }, commits: 1 },
] as const;

for (const { landing, mode, lands, commits } of WAYS)
  githubStory(
    `a service that ends amid a report, a landing by ${landing} and the report of it is followed by one that repeats none`,
    {
      connection: [`landing = ${landing}`],
      layout: githubLayout({ project: [`merge-mode: ${mode}`] }),
      expectedTrouble: [/report|landed|abort|reset|lost|answer|host|GitHub|store a webhook/i],
    },
    async world => {
      const { github, app } = world;
      github.faults.add(hanging({ operation: 'checks/create' }));
      const pull = await world.open();
      await endsAmid(world);
      world.free();
      await world.leaves(pull, 'SUCCESS', 'check');

      github.faults.add(hanging(lands));
      await github.review(app, pull, 'bob', 'APPROVED');
      await endsAmid(world, hanging({ operation: 'checks/update', body: /tenant-one.gate/ }));
      await endsAmid(world);
      await world.leaves(pull, 'SUCCESS');
      await github.settled();

      expect(pull.now).toMatchObject({ state: 'closed', merged: true });
      expect(github.count('pulls/merge')).toBe(landing === 'api' ? 1 : 0);
      expect(await git(app.dir, 'rev-list', '--count', 'main')).toBe(String(1 + commits));
      expect(app.checks.map(({ name, status, conclusion }) => [name, status, conclusion])).toEqual([
        ['tenant-one/check', 'completed', 'success'],
        ['tenant-one/gate', 'completed', 'success'],
      ]);
      const about = pull.comments.map(({ body }) => /gatehouse (\S+) -->/.exec(body)?.[1]);
      expect(about).toEqual(['tenant-one/check', 'tenant-one/gate']);
      expect(world.stage.builds.filter(({ pipeline }) => pipeline === 'gate')).toHaveLength(1);
    },
  );

/** GitHub does it, and the answer does not come. */
function hanging(request: Omit<FaultRule, 'does'>): FaultRule {
  return { ...request, does: { kind: 'hang', after: true } };
}

/** The service ends while it waits for such an answer, and starts again. @param next fault from then on. */
async function endsAmid({ github, observer, restart }: GithubWorld, next?: FaultRule): Promise<void> {
  await observer.until('the service to wait for an answer', () => github.faults.hanging() > 0);
  await restart(() => {
    github.faults.heal();
    if (next !== undefined) github.faults.add(next);
  });
}
