/** The receiving process traces a duplicate delivery itself, because no scheduler processes it. */
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { spansCodec } from '../../model/codec/records.ts';
import type { ConnectionEvent } from '../../model/event.ts';
import { endedFacts } from '../../scheduler/events/ingestion-facts.ts';
import { outboxRows } from '../../store/outbox-rows.ts';
import type { StorePaths } from '../../store/paths.ts';
import { type Store, StoreError } from '../../store/port.ts';
import type { LiveTracing } from '../../tracing/live-tracing.ts';
import { ingestionSpans } from '../../tracing/spans/ingestion-spans.ts';

/** While `tracing` is off, nothing is written. */
export interface DuplicateDeps {
  readonly store: Store;
  readonly paths: Pick<StorePaths, 'spanOutbox'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly tracing: Pick<LiveTracing, 'spans'>;
  readonly log: Pick<Log, 'debug'>;
}

/** @param event as it would have been stored. @param driver of its connection. */
export async function traceDuplicate(
  event: ConnectionEvent,
  driver: string,
  deps: DuplicateDeps,
): Promise<void> {
  const style = deps.tracing.spans();
  if (style === undefined || !event.sampled) return;
  const endedAt = deps.clock.now();
  const outcome = { kind: 'discarded', reason: 'duplicate delivery' } as const;
  const facts = endedFacts(event, outcome, { driver, processing: null, endedAt, answered: [] });
  const rows = outboxRows(deps.paths.spanOutbox, ingestionSpans(facts, style), spansCodec, endedAt);
  try {
    await deps.store.multi(rows);
  } catch (error) {
    // The delivery itself is stored already; a store out of contact must not cause a redelivery.
    if (!(error instanceof StoreError)) throw error;
    deps.log.debug({ err: error, delivery: event.deliveryId }, 'cannot trace a duplicate delivery');
  }
}
