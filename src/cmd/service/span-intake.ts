/**
 * Stores spans of other programs in the span outbox.
 *
 * One request may need several multi-writes. If a later one fails, the client sends the whole request again; this process remembers
 * the spans it has already stored and skips them.
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

/** Spans remembered from partially stored requests; the oldest are forgotten, and may be sent twice. */
const MOST_REMEMBERED = 20_000;

/** @returns a getter of the current intake; undefined while tracing is off. */
export function createSpanIntake(
  { tracing, paths, clock }: Pick<ProcessCore, 'tracing' | 'paths' | 'clock'>,
  store: Store,
): () => SpanIntake | undefined {
  const outbox = paths.spanOutbox;
  let prepared = false;
  /** Stored spans of requests that have not succeeded yet. */
  const halfStored = new Set<string>();

  /** Schedulers create the outbox, but this web may start before them. */
  async function prepare(): Promise<void> {
    if (!prepared) await ensureNode(store, outbox);
    prepared = true;
  }

  function remember(rows: readonly Operation[]): void {
    for (const row of rows) {
      if (row.kind !== 'create') continue;
      for (const span of spansCodec.decode(row.data)) halfStored.add(nameOf(span));
    }
    for (const name of halfStored) {
      if (halfStored.size <= MOST_REMEMBERED) break;
      halfStored.delete(name);
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
        const missing = spans.filter(span => !halfStored.has(nameOf(span)));
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
        for (const span of spans) halfStored.delete(nameOf(span));
      },
    };
  };
}

function nameOf({ traceId, spanId }: SpanRecord): string {
  return `${traceId}/${spanId}`;
}

/** Sampling decision for a trace that began in another program, the same for all its spans. */
export function isTraceSampled(tracing: Pick<LiveTracing, 'isSampled'>, traceId: string): boolean {
  return tracing.isSampled(derivedUuid(traceId));
}
