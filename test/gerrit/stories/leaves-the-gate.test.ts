/** What takes a change out of the gate, and what brings it back. */
import { expect } from 'vitest';
import type { FakeChange } from '../fake/world.ts';
import { gerritLayout } from './gerrit-layout.ts';
import { type GerritWorld, gerritStory } from './gerrit-world.ts';

type Way = readonly [
  name: string,
  result: string,
  reason: string,
  deed: (world: GerritWorld, change: FakeChange) => Promise<unknown>,
];

const WAYS: readonly Way[] = [
  ['work in progress', 'FAILURE', 'requirement-lost', ({ gerrit }, change) => gerrit.setWip(change, true)],
  ['abandoned', 'DEQUEUED', 'abandoned', ({ gerrit }, change) => gerrit.abandon(change)],
  [
    'vote taken back',
    'FAILURE',
    'requirement-lost',
    ({ gerrit }, change) => gerrit.vote(change, 'bob', { Workflow: 0 }),
  ],
  [
    'vote deleted',
    'FAILURE',
    'requirement-lost',
    ({ gerrit }, change) => gerrit.deleteVote(change, 'admin', 'bob', 'Code-Review'),
  ],
  [
    'reviewer removed',
    'FAILURE',
    'requirement-lost',
    ({ gerrit }, change) => gerrit.deleteReviewer(change, 'admin', 'bob'),
  ],
  [
    'veto',
    'FAILURE',
    'requirement-lost',
    ({ gerrit }, change) => gerrit.vote(change, 'alice', { 'Code-Review': -2 }),
  ],
  [
    'new patch set',
    'DEQUEUED',
    'new-patchset',
    ({ gerrit }, change) => gerrit.amend(change, { files: { more: '1\n' } }),
  ],
  ['deleted', 'DEQUEUED', 'abandoned', ({ gerrit }, change) => gerrit.deleteChange(change)],
  // No event says that it was moved; the next one of the change shows it.
  [
    'moved',
    'DEQUEUED',
    'new-patchset',
    async ({ gerrit }, change) => {
      await gerrit.move(change, 'stable');
      await gerrit.comment(change, 'alice', 'For the stable branch');
    },
  ],
];

const VETOED = gerritLayout().replace(
  '    trigger:\n      local:\n        - event: comment-added\n          approval:',
  '    reject:\n      local:\n        approval: [{Code-Review: [-2, -1]}]\n    trigger:\n      local:\n        - event: comment-added\n          approval:',
);

gerritStory('each way out of the gate is seen at once, and named', { layout: VETOED }, async world => {
  await world.gerrit.createBranch('acme/app', 'stable');
  const changes: FakeChange[] = [];
  for (const [name] of WAYS) {
    const change = await world.push({ message: `Ends: ${name}` });
    await world.gate(change);
    changes.push(change);
  }
  const found: string[] = [];
  // From the last one on, so that none is behind the one that leaves.
  for (const [at, [name, result, , deed]] of [...WAYS.entries()].toReversed()) {
    const change = changes[at];
    if (change === undefined) throw new Error(`no change for ${name}`);
    await deed(world, change);
    const left = await world.leaves(change, result);
    found.unshift(`${name}: ${left.result} ${left.reason}`);
  }
  expect(found).toEqual(WAYS.map(([name, result, reason]) => `${name}: ${result} ${reason}`));
  expect(changes.filter(({ now }) => now.status === 'MERGED')).toEqual([]);
});
