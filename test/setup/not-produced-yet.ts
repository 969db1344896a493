/**
 * What is documented and no story produces yet, or not each time: another run of the suite may lack it. Nothing is to be added for
 * new code: it wants a story. What has one is struck off.
 */
export const NOT_PRODUCED_YET: ReadonlySet<string> = new Set([
  'attribute gatehouse.clock_adjusted_ns',
  'attribute gatehouse.delivery.answered',
  'attribute gatehouse.delivery.answered_count',
  'attribute gatehouse.dropped',
  'attribute gatehouse.labels',
  'attribute gatehouse.span.original_parent_id',
  'code gatehouse.leave.code merged-elsewhere',
  'code gatehouse.result ABORTED',
  'code gatehouse.result MERGE_FAILURE',
  'code gatehouse.result NODE_FAILURE',
  'code gatehouse.result POST_FAILURE',
  'code gatehouse.superseded.code item-ahead-changed',
  'code gatehouse.superseded.code item-ahead-misconfigured',
  'code gatehouse.superseded.code item-ahead-not-merged',
  'code gatehouse.superseded.code queue-changed',
  'decision change-not-open',
  'decision no-such-change',
  'decision other-connection',
  'decision pipeline-disabled',
  'decision pipeline-full',
  'decision project-not-in-pipeline',
  'decision requeued',
  'decision result-ignored',
  'decision too-many-dependencies',
  'event cancel-requested',
  'kind BuildRepoUpdateLock',
  'kind CacheCleanup',
  'code gatehouse.superseded.code item-ahead-conflict',
]);
