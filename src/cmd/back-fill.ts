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

/** What one run reads, makes and sends; `commands/trace-export.ts` builds it from the history and the settings. */
export interface BackFillDeps {
  /** @param after 0, then `next` of the page before. */
  readonly page: (after: number) => Promise<FinishedItemsPage>;
  /** The spans of an item that has left, with the ids they had the first time. */
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

/** Counts since the run began. Spans that the collector rejected for good are among them; the sender's health has their number. */
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

/** The final counts. However a run ends, a later one can begin a little before `upTo`. */
export type BackFillOutcome = BackFillProgress & {
  /** `gave-up`: the collector took nothing for {@link PATIENCE_MS}. */
  readonly kind: 'done' | 'interrupted' | 'gave-up';
};

/** Milliseconds without an accepted span after which the run gives up. */
export const PATIENCE_MS = 600_000;
/** Spans handed to the sender at once; it makes requests of them. */
const SPANS_AT_ONCE = 4000;

/**
 * Runs until all is delivered, `signal` aborts, or the collector has taken nothing for {@link PATIENCE_MS}.
 *
 * @throws what `page` throws.
 */
export function backFill(deps: BackFillDeps): Promise<BackFillOutcome> {
  return new BackFill(deps).run();
}

/** Why a run stops early. */
type Stop = Exclude<BackFillOutcome['kind'], 'done'>;

/** One run. Its steps return why the run stops early, or undefined. */
class BackFill {
  readonly #deps: BackFillDeps;
  #progress: BackFillProgress = { items: 0, spans: 0, traces: 0, unsampled: 0, upTo: null, problem: null };

  constructor(deps: BackFillDeps) {
    this.#deps = deps;
  }

  async run(): Promise<BackFillOutcome> {
    const stop = (await this.#sendAllTraces()) ?? (await this.#sendAllItems());
    return { kind: stop ?? 'done', ...this.#progress };
  }

  async #sendAllTraces(): Promise<Stop | undefined> {
    const { traces, signal } = this.#deps;
    if (traces.kind !== 'all') return undefined;
    for (let after: number | null = 0; after !== null; ) {
      if (signal.aborted) return 'interrupted';
      const page: TracesPage = await traces.page(after);
      const stop = await this.#sendTraces(page.spans);
      if (stop !== undefined) return stop;
      after = page.next;
    }
    return undefined;
  }

  async #sendAllItems(): Promise<Stop | undefined> {
    for (let after: number | null = 0; after !== null; ) {
      if (this.#deps.signal.aborted) return 'interrupted';
      const page: FinishedItemsPage = await this.#deps.page(after);
      const stop = await this.#sendItems(page.items);
      if (stop !== undefined) return stop;
      after = page.next;
    }
    return undefined;
  }

  async #sendItems(items: readonly QueueItem[]): Promise<Stop | undefined> {
    const { traces, all, spansOf } = this.#deps;
    const wanted = items.filter(item => all || isExported(item));
    if (traces.kind === 'of-items') {
      const stop = await this.#sendTraces(await traces.find(originsOf(wanted)));
      if (stop !== undefined) return stop;
    }
    for (const batch of batches(wanted, spansOf)) {
      const stop = await this.#deliver(batch.spans);
      if (stop !== undefined) return stop;
      this.#report({ items: this.#progress.items + batch.items, upTo: batch.upTo });
    }
    this.#report({ unsampled: this.#progress.unsampled + items.length - wanted.length });
    return undefined;
  }

  async #sendTraces(spans: readonly SpanRecord[]): Promise<Stop | undefined> {
    for (let from = 0; from < spans.length; from += SPANS_AT_ONCE) {
      const stop = await this.#deliver(spans.slice(from, from + SPANS_AT_ONCE));
      if (stop !== undefined) return stop;
    }
    this.#report({ traces: this.#progress.traces + new Set(spans.map(({ traceId }) => traceId)).size });
    return undefined;
  }

  /** Sends a batch, with retries, and counts its spans. */
  async #deliver(spans: readonly SpanRecord[]): Promise<Stop | undefined> {
    const { sender, clock, pause, signal } = this.#deps;
    const rows = sender === undefined ? [] : encodedRows(spans, spansCodec).map(({ data }) => data);
    let taken = sender?.health().sent ?? 0;
    let takenAt = clock.monotonic();
    for (;;) {
      const delivery = sender === undefined ? 'delivered' : await sender.deliver(rows);
      // The sender has counted permanently rejected spans by reason; a retry would not help.
      if (delivery === 'delivered' || 'lost' in delivery) break;
      if (signal.aborted) return 'interrupted';
      const { sent = 0, lastError = null } = sender?.health() ?? {};
      if (sent > taken) takenAt = clock.monotonic();
      taken = sent;
      if (clock.monotonic() - takenAt > PATIENCE_MS) return 'gave-up';
      this.#report({ problem: lastError?.text ?? 'it does not answer' });
      await pause(delivery.retryAfterMs, signal);
    }
    this.#report({ spans: this.#progress.spans + spans.length, problem: null });
    return undefined;
  }

  #report(change: Partial<BackFillProgress>): void {
    this.#progress = { ...this.#progress, ...change };
    this.#deps.onProgress(this.#progress);
  }
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
