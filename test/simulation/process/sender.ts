/** A process that delivers the outboxes: spans to a collector, history to a database; one of several at a time. */
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import { historyRowsCodec, senderReportCodec, spansCodec } from '../../../src/model/codec/records.ts';
import type { HistoryRow } from '../../../src/model/history.ts';
import type { SenderReport } from '../../../src/model/sender-report.ts';
import type { SpanRecord } from '../../../src/model/span.ts';
import { acquireLock } from '../../../src/store/lock.ts';
import { createOutboxDrain } from '../../../src/store/outbox-drain.ts';
import { publishRecord } from '../../../src/store/published-record.ts';
import type { Incarnation } from '../kernel/incarnation.ts';
import type { ProcessParts } from './parts.ts';

/** What arrived, in order of arrival. */
export interface Received {
  readonly spans: { readonly at: number; readonly span: SpanRecord; readonly by: string }[];
  readonly history: { readonly at: number; readonly row: HistoryRow; readonly by: string }[];
}

const FOR_EVER = { maxAgeMs: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY };

export async function runSender(life: Incarnation, parts: ProcessParts, stop: AbortSignal): Promise<void> {
  const { paths, received, call } = parts;
  const store = parts.connect(life);
  const { clock } = life;
  const random = () => life.random.next();
  const lock = await acquireLock(store, {
    path: `${paths.root}/simulation/sender`,
    guid: life.ids.uuid(),
    signal: stop,
  });
  let [sent, lastSentAt]: [number, Nanoseconds | null] = [0, null];
  const report = publishRecord({
    what: 'the report of the span delivery',
    store,
    path: paths.senderReport,
    log: life.log,
    encode: () => senderReportCodec.encode(reportOf(life, sent, lastSentAt)),
  });
  const spans = createOutboxDrain({
    store,
    path: paths.spanOutbox,
    async deliver(rows) {
      const all = rows.flatMap(row => spansCodec.decode(row));
      await call(life, 'collector', `takes ${rows.length}`, () => {
        for (const span of all) received.spans.push({ at: parts.now(), span, by: nameOf(life) });
      });
      sent += all.length;
      lastSentAt = clock.now();
      report.touch();
      return 'delivered';
    },
    clock,
    bounds: FOR_EVER,
    random,
  });
  const history = createOutboxDrain({
    store,
    path: paths.historyOutbox,
    async deliver(rows) {
      await call(life, 'sql', `takes ${rows.length}`, () => {
        for (const row of rows.flatMap(each => historyRowsCodec.decode(each)))
          received.history.push({ at: parts.now(), row, by: life.name });
      });
      return 'delivered';
    },
    clock,
    bounds: FOR_EVER,
    backoff: { firstMs: 100, maxMs: 10_000 },
    random,
  });
  await Promise.all([report.during(stop, () => spans.run(stop)), history.run(stop)]);
  await lock.release();
  await store.close();
}

/** Each life counts what it sends itself. */
function nameOf({ name, generation }: Incarnation): string {
  return `${name}/${generation}`;
}

function reportOf(life: Incarnation, sent: number, lastSentAt: Nanoseconds | null): SenderReport {
  return {
    at: life.clock.now(),
    host: nameOf(life),
    endpoint: 'http://collector.example.org:4317',
    protocol: 'grpc',
    state: lastSentAt === null ? 'idle' : 'ok',
    sent,
    requests: sent,
    failedRequests: 0,
    partialSuccesses: 0,
    lost: {},
    lastError: null,
    lastSentAt,
  };
}
