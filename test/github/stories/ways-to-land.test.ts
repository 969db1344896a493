/** A full gate, landed in each way: everything is tested once, and the branch holds what was tested. */
import { expect } from 'vitest';
import { git } from '../fake/bare-git.ts';
import { githubLayout } from './github-layout.ts';
import { githubStory } from './github-world.ts';

const PULLS = 3;

/** `commits`: of a merge the branch gets two for each pull request; squashed or rebased ones one. */
const WAYS = [
  { landing: 'push', mode: 'merge', commits: 2 },
  { landing: 'push', mode: 'squash-merge', commits: 1 },
  { landing: 'api', mode: 'merge', commits: 2 },
  { landing: 'api', mode: 'squash-merge', commits: 1 },
  { landing: 'api', mode: 'rebase', commits: 1 },
] as const;

for (const { landing, mode, commits } of WAYS)
  githubStory(
    `${PULLS} pull requests land by ${landing} with merge-mode ${mode}, each tested once (cases 49, 50)`,
    {
      connection: [`landing = ${landing}`],
      layout: githubLayout({
        project: [`merge-mode: ${mode}`],
        gateSuccess: '{check: success, merge: true, comment: false}',
      }).replaceAll('    check: {jobs: [unit]}\n', ''),
    },
    async world => {
      const { github, app } = world;
      const pulls = [];
      for (let number = 1; number <= PULLS; number++) pulls.push(await world.open());
      for (const pull of pulls) await github.review(app, pull, 'bob', 'APPROVED');
      const numbers = pulls.map(({ number }) => number);
      await world.runs(...numbers.map((_, index) => `unit: ${numbers.slice(0, index + 1).join(' ')}`));
      world.free();
      for (const pull of pulls) expect(await world.leaves(pull, 'SUCCESS')).toMatchObject({ resets: 0 });
      await github.settled();

      expect(world.stage.builds).toHaveLength(PULLS);
      const isMerged = landing === 'api' || mode === 'merge';
      expect(pulls.map(({ now }) => [now.state, now.merged])).toEqual(pulls.map(() => ['closed', isMerged]));
      const files = await git(app.dir, 'ls-tree', '--name-only', 'main');
      expect(files.split('\n').filter(name => name.startsWith('file-'))).toHaveLength(PULLS);
      expect(await git(app.dir, 'rev-list', '--count', 'main')).toBe(String(1 + commits * PULLS));
      const runs = app.checks.filter(({ name }) => name === 'tenant-one/gate');
      expect(runs.map(({ conclusion }) => conclusion)).toEqual(pulls.map(() => 'success'));
      expect(new Set(runs.map(({ headSha }) => headSha)).size).toBe(PULLS);
      const merges = () => world.sink.spans.filter(({ name }) => name === 'HostMerge local');
      await world.observer.until('the landings to be drawn', () => merges().length >= PULLS);
      expect(merges()).toHaveLength(PULLS);
    },
  );
