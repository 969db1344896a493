/**
 * Tracks since when a store is out of contact, for messages and deadlines.
 *
 *     using contact = followContact(renewing.store, clock, 'ZooKeeper at zk1:2281');
 *     contact.state()      // { kind: 'away', since: '1795…' }
 */
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import { createListeners } from '../../lib/listeners.ts';
import type { Store } from '../../store/port.ts';
import type { StoreContact } from '../../web/deps.ts';

/** Out of contact from its creation until the first contact. */
export interface Contact extends Disposable {
  state(): StoreContact;
  /** Milliseconds without contact; 0 while there is some. */
  awayFor(): number;
  /** After each change of the session's state, until disposed. */
  onChange(listener: () => void): Disposable;
}

/** @param storeName for the reason given before the first contact. @returns a view to dispose; it does not close the store. */
export function followContact(
  store: Pick<Store, 'sessionState' | 'onSessionState'>,
  clock: Clock,
  storeName: string,
): Contact {
  const listeners = createListeners();
  let everConnected = store.sessionState === 'connected';
  let lostAt: { readonly wall: Nanoseconds; readonly monotonic: number } | undefined;
  const lost = () => ({ wall: clock.now(), monotonic: clock.monotonic() });
  if (!everConnected) lostAt = lost();

  function update(): void {
    if (store.sessionState === 'connected') {
      everConnected = true;
      lostAt = undefined;
    } else lostAt ??= lost();
  }

  const watch = store.onSessionState(() => {
    update();
    listeners.call();
  });

  return {
    state() {
      update();
      if (lostAt === undefined) return { kind: 'connected' };
      return everConnected
        ? { kind: 'away', since: lostAt.wall }
        : { kind: 'never', reason: `waiting for ${storeName}` };
    },
    awayFor() {
      update();
      return lostAt === undefined ? 0 : clock.monotonic() - lostAt.monotonic;
    },
    onChange: listeners.add,
    [Symbol.dispose]: () => watch[Symbol.dispose](),
  };
}
