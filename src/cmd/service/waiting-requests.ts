/** Number of requests to workers without a result, claimed or not, kept current by a watch. */
import { openLiveCounts } from '../../store/live-counts.ts';
import type { RequestKind, StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';

/** Merge and build requests; 0 for any other kind. */
export interface WaitingRequests extends Disposable {
  of(kind: RequestKind): number;
}

/** @param onError called when a read fails; the count stays unchanged until the next change. */
export async function openWaitingRequests(
  store: Store,
  paths: StorePaths,
  onError: (error: unknown) => void,
): Promise<WaitingRequests> {
  const queueOf = (kind: RequestKind) => `${paths.requests(kind)}/queue`;
  const counts = await openLiveCounts(store, [queueOf('merge'), queueOf('build')], onError);
  return { of: kind => counts.count(queueOf(kind)), [Symbol.dispose]: () => counts[Symbol.dispose]() };
}
