/** Every change on its own, in a queue of its own. Nothing merges, so other changes matter only as dependencies. */
import type { Manager } from './manager.ts';

/** `manager: independent`. The key has the event, so that two patchsets of a change have a queue each. */
export const independent: Manager = {
  queueFor: ({ change, shared, event }) => ({ key: `${change.key} ${event}`, name: shared.name }),
  ownQueues: true,
  queuesFollow: false,
  window: 'unlimited',
  overtakes: false,
  promotes: false,
  dependencies: 'hold-places',
  bringsDependents: false,
  needsOrder: false,
  abandonedDependency: 'until-merged',
  takesMerged: true,
  newPatchset: 'as-configured',
  success: 'may-merge',
};
