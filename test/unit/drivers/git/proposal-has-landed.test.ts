import { describe, expect, it } from 'vitest';
import { proposalHasLanded } from '../../../../drivers/git/proposal-has-landed.ts';
import { type ObjectId, parseObjectId } from '../../../../src/git/objects/object-id.ts';

const id = (digit: string) => parseObjectId(digit.repeat(40));
const [BASE, FIRST, TIP, HEAD] = ['a', 'b', 'c', 'd'].map(id) as [ObjectId, ObjectId, ObjectId, ObjectId];

/** The branch went from BASE over FIRST to TIP. @param holding states that hold all that HEAD changes. */
function gitWith(holding: readonly ObjectId[], { ancestor = false, here = true } = {}) {
  const asked: ObjectId[] = [];
  return {
    asked,
    isAncestor: async () => ancestor,
    has: async () => here,
    beyond: async () =>
      new Map([
        [TIP, [FIRST]],
        [FIRST, [BASE]],
      ]),
    async holds(state: ObjectId) {
      asked.push(state);
      return holding.includes(state);
    },
  };
}

describe('a proposal that is gone', () => {
  it('has landed when the branch holds its commit', async () => {
    expect(await proposalHasLanded(HEAD, { before: BASE, tip: TIP }, gitWith([], { ancestor: true }))).toBe(
      true,
    );
  });

  it('has landed when a state of the branch since the last reading holds all that it changes', async () => {
    const git = gitWith([FIRST]);
    expect(await proposalHasLanded(HEAD, { before: BASE, tip: TIP }, git)).toBe(true);
    expect(git.asked).toEqual([TIP, FIRST]);
  });

  it('was withdrawn when no state since holds it, or the branch did not move, or it was never read', async () => {
    const git = gitWith([BASE]);
    expect(await proposalHasLanded(HEAD, { before: BASE, tip: TIP }, git)).toBe(false);
    expect(git.asked).toEqual([TIP, FIRST]);
    expect(await proposalHasLanded(HEAD, { before: TIP, tip: TIP }, gitWith([TIP]))).toBe(false);
    expect(await proposalHasLanded(HEAD, { before: undefined, tip: TIP }, gitWith([TIP]))).toBe(false);
    expect(await proposalHasLanded(HEAD, { before: BASE, tip: TIP }, gitWith([TIP], { here: false }))).toBe(
      false,
    );
  });
});
