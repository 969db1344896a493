/** What a branch holds after a landing. */
import { expect, test } from 'vitest';
import { branchesAfter } from '../../../src/model/landed.ts';
import { parseCommitId, projectKey } from '../../../src/model/project.ts';

const project = projectKey({ connection: 'gerrit', name: 'acme/app' });
const branch = 'main';
const snapshot = (digit: string) => ({ commit: parseCommitId(digit.repeat(40)), tree: digit.repeat(40) });

test('of several changes of an item that land one after the other in a branch, the last one counts', () => {
  const [tested, half, whole] = [snapshot('a'), snapshot('b'), snapshot('c')];
  const merged = { project, branch, ...tested, base: tested.commit, before: tested.commit, beforeTree: null };
  const after = branchesAfter({ branches: [merged] } as never, [
    { project, branch, ...half },
    { project, branch, ...whole },
  ]);
  expect(after).toEqual([{ project, branch, tested, now: whole }]);
});
