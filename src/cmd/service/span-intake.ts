/**
 * Spans of others, on their way into the outbox that ours leave through.
 *
 * What somebody hands over at once may be more than one multi-write takes. When a later one fails they send all of it again: what
 * this process stored of it already is remembered, and not stored a second time.
 */
import { derivedUuid } from '../../lib/ids.ts';
import { spansCodec } from '../../model/codec/records.ts';
import type { SpanRecord } from '../../model/span.ts';
import { ensureNode } from '../../store/ensure-node.ts';
import { outboxRows } from '../../store/outbox-rows.ts';
import type { Operation, Store } from '../../store/port.ts';
import { splitOperations } from '../../store/split-operations.ts';
import type { LiveTracing } from '../../tracing/live-tracing.ts';
import { serviceNames } from '../../tracing/resource.ts';
import type { SpanIntake } from '../../web/deps.ts';
import type { ProcessCore } from './manage-component.ts';

/** Spans remembered of hand-overs that failed half-way; the oldest are forgotten, and may go out twice. */
const MOST_REMEMBERED = 20_000;

/** @returns what there is at the moment; undefined while tracing is off. */
export function createSpanIntake(
  { tracing, paths, clock }: Pick<ProcessCore, 'tracing' | 'paths' | 'clock'>,
  store: Store,
): () => SpanIntake | undefined {
  const outbox = paths.spanOutbox;
  let prepared = false;
  /** Stored, and not answered for. */
  const halfWay = new Set<string>();

  /** Schedulers make the outbox; this web may be there before the first of them. */
  async function prepare(): Promise<void> {
    if (!prepared) await ensureNode(store, outbox);
    prepared = true;
  }

  function remember(rows: readonly Operation[]): void {
    for (const row of rows) {
      if (row.kind !== 'create') continue;
      for (const span of spansCodec.decode(row.data)) halfWay.add(nameOf(span));
    }
    for (const name of halfWay) {
      if (halfWay.size <= MOST_REMEMBERED) break;
      halfWay.delete(name);
    }
  }

  return () => {
    const settings = tracing.settings();
    if (settings.kind === 'off') return undefined;
    return {
      ownServices: serviceNames(settings.serviceName),
      isSampled: trace => isTraceSampled(tracing, trace),
      async store(spans) {
        await prepare();
        const missing = spans.filter(span => !halfWay.has(nameOf(span)));
        const stored: Operation[] = [];
        try {
          for (const rows of splitOperations(outboxRows(outbox, missing, spansCodec, clock.now()))) {
            await store.multi(rows);
            stored.push(...rows);
          }
        } catch (error) {
          remember(stored);
          throw error;
        }
        for (const span of spans) halfWay.delete(nameOf(span));
      },
    };
  };
}

function nameOf({ traceId, spanId }: SpanRecord): string {
  return `${traceId}/${spanId}`;
}

/** Of a trace that began at somebody else's: whatever of it comes here is kept or not as one. */
export function isTraceSampled(tracing: Pick<LiveTracing, 'isSampled'>, traceId: string): boolean {
  return tracing.isSampled(derivedUuid(traceId));
}
