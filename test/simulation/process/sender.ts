/** A process that delivers the outboxes: spans to a collector, history to a database; one of several at a time. */
import { historyRowsCodec, spansCodec } from '../../../src/model/codec/records.ts';
import type { HistoryRow } from '../../../src/model/history.ts';
import type { SpanRecord } from '../../../src/model/span.ts';
import { acquireLock } from '../../../src/store/lock.ts';
import { createOutboxDrain } from '../../../src/store/outbox-drain.ts';
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
  const spans = createOutboxDrain({
    store,
    path: paths.spanOutbox,
    async deliver(rows) {
      await call(life, 'collector', `takes ${rows.length}`, () => {
        for (const span of rows.flatMap(row => spansCodec.decode(row)))
          received.spans.push({ at: parts.now(), span, by: life.name });
      });
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
  await Promise.all([spans.run(stop), history.run(stop)]);
  await lock.release();
  await store.close();
}
