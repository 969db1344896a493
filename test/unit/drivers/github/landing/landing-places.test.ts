/** Which of two sources says where the branches of a push are. */
import { expect, test } from 'vitest';
import type { LandingContext } from '../../../../../drivers/github/landing/landing-context.ts';
import type { LandingGit } from '../../../../../drivers/github/landing/landing-git.ts';
import type { LandingNow } from '../../../../../drivers/github/landing/landing-now.ts';
import { placesAsShown } from '../../../../../drivers/github/landing/landing-places.ts';
import { type ObjectId, parseObjectId } from '../../../../../src/git/objects/object-id.ts';
import { parseRefName, type RefName } from '../../../../../src/git/objects/ref-name.ts';
import { parseCommitId } from '../../../../../src/model/project.ts';
import { app, pullChange } from '../change.ts';

const id = (digit: string) => digit.repeat(40);
const change = pullChange(id('a'));
const before = parseCommitId(id('b'));
const tested = { base: before, before, beforeTree: id('c'), commit: parseCommitId(id('d')), tree: id('e') };
const context = { change, tested, name: 'item' } as LandingContext;
const MAIN = parseRefName('refs/heads/main');

const shown = (tip: string | null, staged: string | null = null) =>
  ({
    tip: tip === null ? null : { project: app, branch: 'main', commit: parseCommitId(tip), tree: id('c') },
    staged,
  }) as LandingNow;
const listing = (...refs: readonly (readonly [RefName, ObjectId])[]) =>
  ({ refs: async () => new Map(refs) }) as Partial<LandingGit> as LandingGit;

test('a branch that the API shows where the test began is not listed again: the push has a lease', async () => {
  const git = { refs: () => expect.unreachable('git is not asked') } as Partial<LandingGit> as LandingGit;
  expect(await placesAsShown(shown(before), context, git)).toEqual({ tip: before, staged: undefined });
  const staged = { tip: before, staged: id('d') };
  expect(await placesAsShown(shown(before, id('d')), context, git)).toEqual(staged);
});

test('anything else is listed: what the API shows may be behind', async () => {
  for (const tip of [id('9'), null])
    expect(await placesAsShown(shown(tip), context, listing([MAIN, parseObjectId(before)]))).toEqual({
      tip: before,
      staged: undefined,
    });
  expect(await placesAsShown(shown(id('9')), context, listing())).toEqual({
    tip: undefined,
    staged: undefined,
  });
});
