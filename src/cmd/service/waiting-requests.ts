/** Requests to workers that have no result yet, taken or not: counted by watch. */
import { openLiveCounts } from '../../store/live-counts.ts';
import type { RequestKind, StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';

export interface WaitingRequests extends Disposable {
  of(kind: RequestKind): number;
}

/** @param onError told of a failed look; the count stays what it was until something changes again. */
export async function openWaitingRequests(
  store: Store,
  paths: StorePaths,
  onError: (error: unknown) => void,
): Promise<WaitingRequests> {
  const queueOf = (kind: RequestKind) => `${paths.requests(kind)}/queue`;
  const counts = await openLiveCounts(store, [queueOf('merge'), queueOf('build')], onError);
  return { of: kind => counts.count(queueOf(kind)), [Symbol.dispose]: () => counts[Symbol.dispose]() };
}
