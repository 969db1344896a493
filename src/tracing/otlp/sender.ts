/**
 * Delivers batches of outbox rows to the collector and reports the outcome of each batch.
 *
 *     for (;;) {                                            // src/store/outbox-drain.ts, simplified
 *       const outcome = await sender.deliver(rows);
 *       if (outcome === 'delivered' || 'lost' in outcome) delete the rows
 *       else wait outcome.retryAfterMs, then the same rows again
 *     }
 *
 * The back-off after failures is the collector's, not that of a batch: while it fails, every batch waits. Of a batch that arrived in
 * part only the rest is sent again, so that a span reaches the collector twice only when an answer was lost. Rows of a newer version
 * are left to an upgraded sender: `deliver` rejects, and its caller releases its leadership.
 *
 * A map of the folder:
 *
 *     sender                 row-spans (reads rows), request-size (packs requests), limiter, collector-pace (back-off), sender-log,
 *                            sender-health (counters), trace-judge (are the traces whole?)
 *     exporter               makes the span-exporter of the protocol from collector-options; each request has an export-outcome
 *       gRPC                 grpc-exporter, grpc-outcome, retry-info, sdk-complaints
 *       HTTP                 http-exporter, encode-request, http-wire, http-outcome, retry-after, partial-success
 *     shared                 readable-span, readable-spans (the packages' shape), wire (protobuf), collector-text
 *     probe-endpoint         looks for a collector at start
 */
import type { Backoff } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { stripUserinfo } from '../../lib/redact.ts';
import type { SpanRecord } from '../../model/span.ts';
import { MOST_REQUESTS_AT_ONCE } from './collector-options.ts';
import { type CollectorPace, collectorPace } from './collector-pace.ts';
import type { LossReason, PartialSuccess } from './export-outcome.ts';
import { createLimiter } from './limiter.ts';
import { packSpans } from './request-size.ts';
import { spansInRows } from './row-spans.ts';
import { type SenderHealth, senderCounters } from './sender-health.ts';
import { type SenderLog, senderLog } from './sender-log.ts';
import type { SpanExporter } from './span-exporter.ts';
import { createTraceJudge, type TraceJudge } from './trace-judge.ts';

/** Outcome of a batch of rows. */
export type SendOutcome =
  | 'delivered'
  /** Some or all of its spans will never arrive; the batch is finished all the same. */
  | { readonly lost: string }
  /** Deliver the same rows again, not earlier. */
  | { readonly retryAfterMs: number };

/** One per process. Batches that are delivered side by side share the limit of requests at a time and the back-off. */
export interface SpanSender {
  /**
   * @param rows encoded `spans` records, as the outbox holds them.
   * @throws RecordError `newer` when one was written by an upgraded process; nothing else.
   */
  deliver(rows: readonly Uint8Array[]): Promise<SendOutcome>;
  /** Counters at the time of the call. */
  health(): SenderHealth;
  /** Counts spans that the outbox dropped unsent (`too-old`, `outbox-full`); {@link deliver} counts its own losses. */
  noteLost(reason: string, spans: number): void;
  /** Accepts nothing more and waits at most `graceMs` for requests in flight; the rest stays in the outbox. */
  close(graceMs: number): Promise<void>;
}

/** The exporter belongs to the sender, which closes it with itself. */
export interface SenderDeps {
  readonly exporter: SpanExporter;
  readonly clock: Clock;
  readonly log: Log;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Rows waiting in the outbox. */
  readonly backlog?: () => number;
  readonly backoff?: Backoff;
}

/** Keeps the reader from a tight loop after {@link SpanSender.close}. */
const CLOSED_WAIT_MS = 1000;
/** Maximum number of marks for unfinished batches. */
const MOST_SETTLED = 200_000;

/** Sends nothing by itself: the outbox drain calls it for each batch. */
export function spanSender(deps: SenderDeps): SpanSender {
  return new OutboxSender(deps);
}

class OutboxSender implements SpanSender {
  readonly #deps: SenderDeps;
  readonly #counters = senderCounters();
  readonly #log: SenderLog;
  readonly #pace: CollectorPace;
  readonly #limited = createLimiter(MOST_REQUESTS_AT_ONCE);
  /** Spans of unfinished batches that need no further attempt: they arrived, or are lost for this reason. */
  readonly #settled = new Map<string, 'arrived' | LossReason>();
  readonly #inFlight = new Set<Promise<unknown>>();
  readonly #judge: TraceJudge;
  #closed = false;

  constructor(deps: SenderDeps) {
    this.#deps = deps;
    this.#log = senderLog(deps.log, deps.clock);
    this.#pace = collectorPace(deps);
    const { clock } = deps;
    this.#judge = createTraceJudge({
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      onFault: fault => this.#log.faulty(fault),
    });
  }

  deliver(rows: readonly Uint8Array[]): Promise<SendOutcome> {
    const work = this.#deliver(rows).finally(() => this.#inFlight.delete(work));
    this.#inFlight.add(work);
    return work;
  }

  health(): SenderHealth {
    const traces = { hours: this.#judge.hours(), totals: this.#judge.totals() };
    return { ...this.#counters.read(this.#deps.backlog?.() ?? 0), traces };
  }

  noteLost(reason: string, spans: number): void {
    this.#counters.lost(reason, spans, this.#deps.clock.now(), `dropped before sending: ${reason}`);
  }

  async close(graceMs: number): Promise<void> {
    this.#closed = true;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, graceMs);
    await Promise.race([Promise.allSettled(this.#inFlight), promise]);
    clearTimeout(timer);
    this.#deps.exporter.close();
  }

  async #deliver(rows: readonly Uint8Array[]): Promise<SendOutcome> {
    if (this.#mustWait()) return this.#later();
    const { ended, unreadable, newer } = spansInRows(rows);
    if (newer !== undefined) throw newer;
    this.#judge.see(ended);
    const packed = packSpans(ended.filter(span => !this.#settled.has(keyOf(span))));
    if (packed.tooLarge.length > 0) {
      this.#lose(packed.tooLarge, 'too-large', 'a span alone is larger than a request may be');
    }
    const outcomes = await Promise.all(
      packed.requests.map(request => this.#limited(() => this.#sendRequest(request))),
    );
    if (outcomes.includes('again')) return this.#later();
    for (const text of unreadable) this.#countLost('unreadable', 1, text);
    const reasons = ended.map(span => this.#takeReason(keyOf(span)));
    const lost = unreadable.length > 0 ? 'unreadable' : reasons.find(reason => reason !== undefined);
    return lost === undefined ? 'delivered' : { lost };
  }

  #mustWait(): boolean {
    return this.#closed || this.#pace.waitMs() > 0;
  }

  #later(): SendOutcome {
    return { retryAfterMs: Math.max(this.#pace.waitMs(), this.#closed ? CLOSED_WAIT_MS : 1) };
  }

  #takeReason(key: string): LossReason | undefined {
    const reason = this.#settled.get(key);
    this.#settled.delete(key);
    return reason === 'arrived' ? undefined : reason;
  }

  /** Sends one request; in halves when it is too large for the collector. */
  async #sendRequest(spans: readonly SpanRecord[]): Promise<'done' | 'again'> {
    if (this.#mustWait()) return 'again';
    const outcome = await this.#deps.exporter.send(spans);
    this.#counters.requested();
    switch (outcome.kind) {
      case 'delivered':
        this.#onDelivered(spans, outcome.refused);
        return 'done';
      case 'again':
        this.#onFailed(outcome.afterMs, outcome.text);
        return 'again';
      case 'lost':
        this.#lose(spans, outcome.reason, outcome.text);
        return 'done';
      case 'too-large': {
        if (spans.length === 1) {
          this.#lose(spans, 'too-large', outcome.text);
          return 'done';
        }
        const middle = Math.ceil(spans.length / 2);
        const first = await this.#sendRequest(spans.slice(0, middle));
        const second = await this.#sendRequest(spans.slice(middle));
        return first === 'again' || second === 'again' ? 'again' : 'done';
      }
    }
  }

  #onDelivered(spans: readonly SpanRecord[], refused: PartialSuccess | undefined): void {
    const { clock } = this.#deps;
    const failures = this.#pace.worked();
    if (failures > 0) this.#log.worksAgain(failures);
    // A collector may report more than were sent.
    const rejected = Math.min(refused?.spans ?? 0, spans.length);
    this.#counters.delivered(spans.length - rejected, clock.now());
    this.#settle(spans, 'arrived');
    if (refused === undefined) return;
    const text = stripUserinfo(refused.text);
    this.#counters.partial(clock.now(), text);
    if (rejected > 0) this.#counters.lost('rejected', rejected, clock.now(), text);
    this.#log.partial(rejected, text);
  }

  #onFailed(afterMs: number | undefined, text: string): void {
    const clean = stripUserinfo(text);
    this.#counters.failed(this.#deps.clock.now(), clean);
    if (this.#pace.failed(afterMs)) this.#log.waits(clean);
  }

  #lose(spans: readonly SpanRecord[], reason: LossReason, text: string): void {
    this.#settle(spans, reason);
    this.#countLost(reason, spans.length, text);
  }

  #countLost(reason: LossReason, spans: number, text: string): void {
    const clean = stripUserinfo(text);
    this.#counters.lost(reason, spans, this.#deps.clock.now(), clean);
    this.#log.lost(reason, spans, clean);
  }

  #settle(spans: readonly SpanRecord[], as: 'arrived' | LossReason): void {
    // When the outbox drops a batch between two attempts its marks stay; clearing them costs at most duplicates.
    if (this.#settled.size > MOST_SETTLED) this.#settled.clear();
    for (const span of spans) this.#settled.set(keyOf(span), as);
  }
}

function keyOf(span: SpanRecord): string {
  return `${span.traceId}${span.spanId}`;
}
