import { isConnectionLoss, settle } from './connection.ts';
import type { Store } from './port.ts';

/**
 * Reads this session's current view, without the round trip to the leader that {@link settle} makes first. Correct where an
 * outdated view does no harm: writes that follow from it are checked by versions, and a watch reports later changes. After
 * a lost reply it does what `settle` does.
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
