/**
 * Finished items → their spans, made again → the collector: for a backend that was down or is new.
 *
 * The live service's own span function and sender make and send them, so ids and bytes are the same as the first time; a backend
 * that already has some of them gets nothing new. Works page by page: one page bounds the memory, for any time range.
 */
import type { FinishedItemsPage, TracesPage } from '../history/finished-items.ts';
import type { Clock, Nanoseconds } from '../lib/clock.ts';
import type { TraceId } from '../lib/ids.ts';
import { spansCodec } from '../model/codec/records.ts';
import { endOfItem, isExported, type QueueItem } from '../model/queue-item.ts';
import type { SpanRecord } from '../model/span.ts';
import { encodedRows } from '../store/outbox-rows.ts';
import type { SpanSender } from '../tracing/otlp/sender.ts';

export interface BackFillDeps {
  /** @param after 0, then `next` of the page before. */
  readonly page: (after: number) => Promise<FinishedItemsPage>;
  readonly spansOf: (item: QueueItem) => readonly SpanRecord[];
  readonly traces: OtherTraces;
  /** Undefined: everything is made and counted, and nothing is sent. */
  readonly sender: Pick<SpanSender, 'deliver' | 'health'> | undefined;
  /** Also items that sampling left out. */
  readonly all: boolean;
  readonly clock: Clock;
  /** Waits before a retry; ends early when aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
  /** Called after each delivery, and when the collector rejects spans for now. */
  readonly onProgress: (progress: BackFillProgress) => void;
}

/** Traces that belong to no item: events, operators' requests, background passes. */
export type OtherTraces =
  /** Every such trace, sent before the items: an interrupted run sends them again. */
  | { readonly kind: 'all'; readonly page: (after: number) => Promise<TracesPage> }
  /** Only the traces the items originate from. */
  | { readonly kind: 'of-items'; readonly find: (ids: readonly TraceId[]) => Promise<readonly SpanRecord[]> };

export interface BackFillProgress {
  readonly items: number;
  readonly spans: number;
  /** Traces of events, requests and passes. */
  readonly traces: number;
  /** Items sampling left out. */
  readonly unsampled: number;
  /** When the last completely delivered item left its pipeline; null: none is delivered yet. */
  readonly upTo: Nanoseconds | null;
  /** The collector's last error; null: it accepts spans. */
  readonly problem: string | null;
}

export type BackFillOutcome = BackFillProgress & {
  /** `gave-up`: the collector took nothing for {@link PATIENCE_MS}. */
  readonly kind: 'done' | 'interrupted' | 'gave-up';
};

/** Milliseconds without an accepted span after which the run gives up. */
export const PATIENCE_MS = 600_000;
/** Spans handed to the sender at once; it makes requests of them. */
const SPANS_AT_ONCE = 4000;

export async function backFill(deps: BackFillDeps): Promise<BackFillOutcome> {
  const { signal, onProgress } = deps;
  let progress: BackFillProgress = { items: 0, spans: 0, traces: 0, unsampled: 0, upTo: null, problem: null };
  const report = (change: Partial<BackFillProgress>) => {
    progress = { ...progress, ...change };
    onProgress(progress);
  };
  const sendTraces = async (spans: readonly SpanRecord[]) => {
    for (let from = 0; from < spans.length; from += SPANS_AT_ONCE) {
      const batch = spans.slice(from, from + SPANS_AT_ONCE);
      const delivered = await deliver(deps, batch, problem => report({ problem }));
      if (delivered !== 'delivered') return delivered;
      report({ spans: progress.spans + batch.length, problem: null });
    }
    report({ traces: progress.traces + new Set(spans.map(({ traceId }) => traceId)).size });
    return 'delivered';
  };
  const { traces } = deps;
  if (traces.kind === 'all') {
    for (let after: number | null = 0; after !== null; ) {
      if (signal.aborted) return { kind: 'interrupted', ...progress };
      const page: TracesPage = await traces.page(after);
      const delivered = await sendTraces(page.spans);
      if (delivered !== 'delivered') return { kind: delivered, ...progress };
      after = page.next;
    }
  }
  for (let after: number | null = 0; after !== null; ) {
    if (signal.aborted) return { kind: 'interrupted', ...progress };
    const page: FinishedItemsPage = await deps.page(after);
    const wanted = page.items.filter(item => deps.all || isExported(item));
    if (traces.kind === 'of-items') {
      const delivered = await sendTraces(await traces.find(originsOf(wanted)));
      if (delivered !== 'delivered') return { kind: delivered, ...progress };
    }
    for (const batch of batches(wanted, deps.spansOf)) {
      const delivered = await deliver(deps, batch.spans, problem => report({ problem }));
      if (delivered !== 'delivered') return { kind: delivered, ...progress };
      report({
        items: progress.items + batch.items,
        spans: progress.spans + batch.spans.length,
        upTo: batch.upTo,
        problem: null,
      });
    }
    report({ unsampled: progress.unsampled + page.items.length - wanted.length });
    after = page.next;
  }
  return { kind: 'done', ...progress };
}

function originsOf(items: readonly QueueItem[]): readonly TraceId[] {
  const origins = items.flatMap(({ origin }) => [origin.eventSpan.traceId, origin.tenantSpan.traceId]);
  return [...new Set(origins)];
}

interface Batch {
  readonly items: number;
  readonly spans: readonly SpanRecord[];
  readonly upTo: Nanoseconds | null;
}

/** Batches of whole items: a half-sent item would have to be sent again. */
function* batches(items: readonly QueueItem[], spansOf: BackFillDeps['spansOf']): Generator<Batch> {
  let spans: SpanRecord[] = [];
  let count = 0;
  for (const [index, item] of items.entries()) {
    for (const span of spansOf(item)) spans.push(span);
    count += 1;
    if (spans.length < SPANS_AT_ONCE && index < items.length - 1) continue;
    yield { items: count, spans, upTo: endOfItem(item) };
    spans = [];
    count = 0;
  }
}

async function deliver(
  { sender, clock, pause, signal }: BackFillDeps,
  spans: readonly SpanRecord[],
  onProblem: (text: string) => void,
): Promise<'delivered' | 'interrupted' | 'gave-up'> {
  if (sender === undefined) return 'delivered';
  const rows = encodedRows(spans, spansCodec).map(({ data }) => data);
  let taken = sender.health().sent;
  let takenAt = clock.monotonic();
  for (;;) {
    const delivery = await sender.deliver(rows);
    // The sender has counted permanently rejected spans by reason; a retry would not help.
    if (delivery === 'delivered' || 'lost' in delivery) return 'delivered';
    if (signal.aborted) return 'interrupted';
    const { sent, lastError } = sender.health();
    if (sent > taken) takenAt = clock.monotonic();
    taken = sent;
    if (clock.monotonic() - takenAt > PATIENCE_MS) return 'gave-up';
    onProblem(lastError?.text ?? 'it does not answer');
    await pause(delivery.retryAfterMs, signal);
  }
}
