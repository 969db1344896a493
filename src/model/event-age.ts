/** How old events are when they arrive. */
import { millisecondsBetween } from '../lib/clock.ts';
import type { ConnectionEvent } from './event.ts';

/**
 * Seconds from the making of an event at the host to its arrival here; 0 where the host's clock is ahead of ours. Undefined: the host
 * does not say.
 */
export function eventAgeSeconds({
  madeAt,
  receivedAt,
}: Pick<ConnectionEvent, 'madeAt' | 'receivedAt'>): number | undefined {
  return madeAt === undefined ? undefined : Math.max(0, millisecondsBetween(madeAt, receivedAt) / 1000);
}
