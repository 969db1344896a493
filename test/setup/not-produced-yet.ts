/**
 * What is documented and no story produces each time, with the reason. Nothing is to be added for new code: it wants a story. What
 * has one is struck off.
 */
export const NOT_PRODUCED_YET: ReadonlySet<string> = new Set([
  // A race that a story cannot hold open: what is asked for is answered, taken back or replaced within one turn.
  'decision no-such-change',
  'decision project-not-in-pipeline',
  'decision result-ignored',
  'code gatehouse.superseded.code item-ahead-conflict',
  // For a move ahead of an item for which no other cause is known: no story makes one, and the pipeline still names it.
  'code gatehouse.superseded.code item-ahead-changed',
  // An executor that fetches for itself, beside another fetch of the same mirror: on one machine the merger was there before.
  'kind BuildRepoUpdateLock',
  // What is swept is older than five minutes, which no story waits for.
  'kind CacheCleanup',
]);
