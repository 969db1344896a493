/**
 * Which results are failures: the only place that decides a span's status.
 *
 * Error exactly when the work ended as a failure, an error or a timeout. Success, skipping, cancelling and superseding
 * leave it unset: work that is cancelled because of another failure did not fail.
 */
import type { SpanRecord } from '../model/span.ts';

/** Values of `cicd.pipeline.result` and `cicd.pipeline.task.run.result`. */
export type CicdResult = 'success' | 'failure' | 'error' | 'timeout' | 'skip' | 'cancellation';

/** Results of builds, buildsets, items, steps, merges and reports; a result that is not listed is not a failure. */
const CICD_RESULTS: ReadonlyMap<string, CicdResult> = new Map<string, CicdResult>([
  ['SUCCESS', 'success'],
  ['FAILURE', 'failure'],
  ['POST_FAILURE', 'failure'],
  ['MERGE_CONFLICT', 'failure'],
  ['MERGE_FAILURE', 'failure'],
  ['CONFIG_ERROR', 'failure'],
  ['TIMED_OUT', 'timeout'],
  ['RETRY', 'error'],
  ['RETRY_LIMIT', 'error'],
  ['DISK_FULL', 'error'],
  ['NODE_FAILURE', 'error'],
  ['ERROR', 'error'],
  ['SKIPPED', 'skip'],
  ['NO_JOBS', 'skip'],
  ['CANCELED', 'cancellation'],
  ['SUPERSEDED', 'cancellation'],
  ['DEQUEUED', 'cancellation'],
]);

/** @param result in Zuul's words, or `SUPERSEDED`. @returns undefined without a result, and for one that is not listed. */
export function cicdResultOf(result: string | undefined): CicdResult | undefined {
  return result === undefined ? undefined : CICD_RESULTS.get(result);
}

/** False without a result, and for one that is not listed. Terminal output colours results by it, too. */
export function isFailure(result: string | undefined): boolean {
  const cicd = cicdResultOf(result);
  return cicd === 'failure' || cicd === 'error' || cicd === 'timeout';
}

const UNSET: SpanRecord['status'] = { code: 'unset' };

/** @param detail the reason, in one line. */
export function statusOf(result: string | undefined, detail?: string): SpanRecord['status'] {
  if (result === undefined || !isFailure(result)) return UNSET;
  return { code: 'error', message: detail === undefined ? result : `${result}: ${detail}` };
}

/** `error.type` of a failed span, e.g. `timed_out`; undefined for others. */
export function errorTypeOf(result: string | undefined): string | undefined {
  return result !== undefined && isFailure(result) ? result.toLowerCase() : undefined;
}
