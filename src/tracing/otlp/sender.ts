/**
 * Delivers what the outbox holds, as the outbox's reader asks for it, and says of each batch what became of it.
 *
 *     for (;;) {                                            // src/store/outbox-drain.ts, in words
 *       const outcome = await sender.deliver(rows);
 *       if (outcome === 'delivered' || 'lost' in outcome) delete the rows
 *       else wait outcome.retryAfterMs, then the same rows again
 *     }
 *
 * The pace after failures is the collector's, not the batch's: while it fails, every batch is told to wait. Of a batch that
 * got through in part only the rest is sent again, so that a span reaches the collector twice only when an answer was lost.
 * Rows of a newer version are left to an upgraded sender: `deliver` rejects, and its caller gives up its turn.
 */
import type { Backoff } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { stripUserinfo } from '../../lib/redact.ts';
import type { SpanRecord } from '../../model/span.ts';
import { MOST_REQUESTS_AT_ONCE } from './collector-options.ts';
import { collectorPace } from './collector-pace.ts';
import type { LossReason, PartialSuccess } from './export-outcome.ts';
import { createLimiter } from './limiter.ts';
import { packSpans } from './request-size.ts';
import { spansInRows } from './row-spans.ts';
import { type SenderHealth, senderCounters } from './sender-health.ts';
import { senderLog } from './sender-log.ts';
import type { SpanExporter } from './span-exporter.ts';

/** What became of a batch of rows. */
export type SendOutcome =
  | 'delivered'
  /** Some or all of it will never arrive: done with it all the same. */
  | { readonly lost: string }
  /** The same rows again, not earlier. */
  | { readonly retryAfterMs: number };

export interface SpanSender {
  /**
   * @param rows encoded `spans` records, as the outbox holds them.
   * @throws RecordError `newer` when one was written by an upgraded process; nothing else, ever.
   */
  deliver(rows: readonly Uint8Array[]): Promise<SendOutcome>;
  health(): SenderHealth;
  /** Counts what the outbox dropped before we saw it (`too-old`, `outbox-full`); losses told by {@link deliver} are counted already. */
  noteLost(reason: string, spans: number): void;
  /** Takes nothing more, waits for requests under way, at most `graceMs`; the rest stays in the outbox. */
  close(graceMs: number): Promise<void>;
}

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

/** A reader that has not heard yet that we are closing should not ask in a tight loop. */
const CLOSED_WAIT_MS = 1000;
/** Marks kept for batches under way. */
const MOST_SETTLED = 200_000;

export function spanSender(deps: SenderDeps): SpanSender {
  const { clock, exporter } = deps;
  const counters = senderCounters();
  const tell = senderLog(deps.log, clock);
  const pace = collectorPace(deps);
  const limited = createLimiter(MOST_REQUESTS_AT_ONCE);
  /** Spans of unfinished batches that need no further try: they arrived, or are lost for this reason. */
  const settled = new Map<string, 'arrived' | LossReason>();
  const underWay = new Set<Promise<unknown>>();
  let closed = false;

  const later = (): SendOutcome => ({ retryAfterMs: Math.max(pace.waitMs(), closed ? CLOSED_WAIT_MS : 1) });

  async function deliver(rows: readonly Uint8Array[]): Promise<SendOutcome> {
    if (closed || pace.waitMs() > 0) return later();
    const { ended, unreadable, newer } = spansInRows(rows);
    if (newer !== undefined) throw newer;
    const packed = packSpans(ended.filter(span => !settled.has(keyOf(span))));
    if (packed.tooLarge.length > 0) {
      lose(packed.tooLarge, 'too-large', 'a span alone is larger than a request may be');
    }
    const outcomes = await Promise.all(packed.requests.map(request => limited(() => sendRequest(request))));
    if (outcomes.includes('again')) return later();
    for (const text of unreadable) countLost('unreadable', 1, text);
    const reasons = ended.map(span => takeReason(keyOf(span)));
    const lost = unreadable.length > 0 ? 'unreadable' : reasons.find(reason => reason !== undefined);
    return lost === undefined ? 'delivered' : { lost };
  }

  function takeReason(key: string): LossReason | undefined {
    const reason = settled.get(key);
    settled.delete(key);
    return reason === 'arrived' ? undefined : reason;
  }

  /** One request; in halves when the collector finds it too large. */
  async function sendRequest(spans: readonly SpanRecord[]): Promise<'done' | 'again'> {
    if (closed || pace.waitMs() > 0) return 'again';
    const outcome = await exporter.send(spans);
    counters.requested();
    switch (outcome.kind) {
      case 'delivered':
        onDelivered(spans, outcome.refused);
        return 'done';
      case 'again':
        onFailed(outcome.afterMs, outcome.text);
        return 'again';
      case 'lost':
        lose(spans, outcome.reason, outcome.text);
        return 'done';
      case 'too-large': {
        if (spans.length === 1) {
          lose(spans, 'too-large', outcome.text);
          return 'done';
        }
        const middle = Math.ceil(spans.length / 2);
        const first = await sendRequest(spans.slice(0, middle));
        const second = await sendRequest(spans.slice(middle));
        return first === 'again' || second === 'again' ? 'again' : 'done';
      }
    }
  }

  function onDelivered(spans: readonly SpanRecord[], refused: PartialSuccess | undefined): void {
    const failures = pace.worked();
    if (failures > 0) tell.worksAgain(failures);
    // More than there were is no number to believe.
    const rejected = Math.min(refused?.spans ?? 0, spans.length);
    counters.delivered(spans.length - rejected, clock.now());
    settle(spans, 'arrived');
    if (refused === undefined) return;
    const text = stripUserinfo(refused.text);
    counters.partial(clock.now(), text);
    if (rejected > 0) counters.lost('rejected', rejected, clock.now(), text);
    tell.partial(rejected, text);
  }

  function onFailed(afterMs: number | undefined, text: string): void {
    const clean = stripUserinfo(text);
    counters.failed(clock.now(), clean);
    if (pace.failed(afterMs)) tell.waits(clean);
  }

  function lose(spans: readonly SpanRecord[], reason: LossReason, text: string): void {
    settle(spans, reason);
    countLost(reason, spans.length, text);
  }

  function countLost(reason: LossReason, spans: number, text: string): void {
    const clean = stripUserinfo(text);
    counters.lost(reason, spans, clock.now(), clean);
    tell.lost(reason, spans, clean);
  }

  function settle(spans: readonly SpanRecord[], as: 'arrived' | LossReason): void {
    // An outbox that drops a batch between two tries leaves its marks behind; they are only worth keeping a while.
    if (settled.size > MOST_SETTLED) settled.clear();
    for (const span of spans) settled.set(keyOf(span), as);
  }

  return {
    deliver(rows) {
      const work = deliver(rows).finally(() => underWay.delete(work));
      underWay.add(work);
      return work;
    },
    health: () => counters.read(deps.backlog?.() ?? 0),
    noteLost: (reason, spans) =>
      counters.lost(reason, spans, clock.now(), `dropped before sending: ${reason}`),
    async close(graceMs) {
      closed = true;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, graceMs);
      await Promise.race([Promise.allSettled(underWay), promise]);
      clearTimeout(timer);
      exporter.close();
    },
  };
}

function keyOf(span: SpanRecord): string {
  return `${span.traceId}${span.spanId}`;
}
