/**
 * One change of a shared queue after the other, each on the branch of that time, and every one of them: for deployments, where none
 * may be left out and no two may run at the same time.
 */
import type { Manager } from './manager.ts';

/** `manager: serial`. The window is one: an item is merged and tested only at the head. */
export const serial: Manager = {
  queueFor: ({ shared }) => shared,
  ownQueues: false,
  queuesFollow: true,
  window: 'one',
  overtakes: false,
  promotes: false,
  dependencies: 'ignored',
  bringsDependents: false,
  needsOrder: false,
  abandonedDependency: 'never',
  takesMerged: true,
  newPatchset: 'as-configured',
  success: 'may-merge',
};
