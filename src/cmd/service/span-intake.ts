/** Spans of others, on their way into the outbox that ours leave through. */
import { derivedUuid } from '../../lib/ids.ts';
import { spansCodec } from '../../model/codec/records.ts';
import { ensureNode } from '../../store/ensure-node.ts';
import { outboxRows } from '../../store/outbox-rows.ts';
import type { Operation, Store } from '../../store/port.ts';
import { operationBytes } from '../../store/size.ts';
import type { LiveTracing } from '../../tracing/live-tracing.ts';
import type { SpanIntake } from '../../web/deps.ts';
import type { ProcessCore } from './manage-component.ts';

/** Bytes of rows written at once. */
const WRITE_BYTES = 800_000;

/** @returns what there is at the moment; undefined while tracing is off. */
export function createSpanIntake(
  { tracing, paths, clock }: Pick<ProcessCore, 'tracing' | 'paths' | 'clock'>,
  store: Store,
): () => SpanIntake | undefined {
  const outbox = paths.spanOutbox;
  let prepared = false;

  /** Schedulers make the outbox; this web may be there before the first of them. */
  async function prepare(): Promise<void> {
    if (!prepared) await ensureNode(store, outbox);
    prepared = true;
  }

  return () => {
    const settings = tracing.settings();
    if (settings.kind === 'off') return undefined;
    return {
      ownService: settings.serviceName,
      isSampled: trace => isTraceSampled(tracing, trace),
      async store(spans) {
        await prepare();
        for (const rows of chunked(outboxRows(outbox, spans, spansCodec, clock.now())))
          await store.multi(rows);
      },
    };
  };
}

/** Of a trace that began at somebody else's: whatever of it comes here is kept or not as one. */
export function isTraceSampled(tracing: Pick<LiveTracing, 'isSampled'>, traceId: string): boolean {
  return tracing.isSampled(derivedUuid(traceId));
}

function* chunked(rows: readonly Operation[]): Generator<readonly Operation[]> {
  let chunk: Operation[] = [];
  let bytes = 0;
  for (const row of rows) {
    const size = operationBytes(row);
    if (chunk.length > 0 && bytes + size > WRITE_BYTES) {
      yield chunk;
      [chunk, bytes] = [[], 0];
    }
    chunk.push(row);
    bytes += size;
  }
  if (chunk.length > 0) yield chunk;
}
