/**
 * One queue for each project and ref, in which one item runs and at most one waits, the newest: for what is published, where
 * only the latest state is of use.
 *
 *     the pushes A, B and C to master:   A runs   →   A, B   →   A, C: B is not published
 *
 * A change and an update of the branch that it is for share a queue.
 */
import type { Change } from '../../model/change.ts';
import { projectIdOf } from '../../model/project.ts';
import type { Manager, QueueName } from './manager.ts';

/** `manager: supercedent`. `overtakes` does the dropping: overtake.ts. */
export const supercedent: Manager = {
  queueFor: ({ change }) => queueOfRef(change),
  ownQueues: false,
  queuesFollow: true,
  window: 'one',
  overtakes: true,
  promotes: false,
  dependencies: 'ignored',
  bringsDependents: false,
  needsOrder: false,
  abandonedDependency: 'never',
  takesMerged: true,
  newPatchset: 'as-configured',
  success: 'may-merge',
};

function queueOfRef(change: Change): QueueName {
  const { name } = projectIdOf(change.project);
  const ref = change.branch === undefined ? change.ref : `refs/heads/${change.branch}`;
  return { key: `ref ${change.project} ${ref}`, name: `${name} ${change.branch ?? change.ref}` };
}
