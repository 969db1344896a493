import { isConnectionLoss, settle } from './connection.ts';
import type { Store } from './port.ts';

/**
 * Reads what this session sees now, without the round trip to the leader that {@link settle} makes first. Right where a view that
 * trails does no harm: what is written because of it is checked by versions, and a watch tells of what comes later. After
 * a lost reply it is `settle` all the same.
 *
 * @throws StoreError `SessionExpired` when the session is over; the signal's reason when aborted while out of contact.
 */
export async function readNow<T>(store: Store, ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!isConnectionLoss(error)) throw error;
    return await settle(store, ask, signal);
  }
}
