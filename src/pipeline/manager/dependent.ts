/** The gate: shared queues, each change tested on top of those ahead of it, merged in order when its tests pass. */
import type { Manager } from './manager.ts';

/** `manager: dependent`. A success that the host does not merge counts as a failure. */
export const dependent: Manager = {
  queueFor: ({ shared }) => shared,
  ownQueues: false,
  queuesFollow: true,
  window: 'learnt',
  overtakes: false,
  promotes: true,
  dependencies: 'enter-ahead',
  bringsDependents: true,
  needsOrder: true,
  abandonedDependency: 'always',
  takesMerged: false,
  newPatchset: 'replaces',
  success: 'must-merge',
};
