/**
 * Delivery of the store's outboxes: spans to the collector, rows to the history. One process at a time delivers (leader election
 * in the store); when it dies the next leader continues with the remaining rows.
 *
 * Spans are sent by processes that run a scheduler, history is written by those that run a web, which reads that database.
 */
import type { History } from '../../history/history.ts';
import { senderReportCodec } from '../../model/codec/records.ts';
import type { TracingOn } from '../../settings/tracing-settings.ts';
import { installationId } from '../../store/installation.ts';
import type { OutboxCounters, OutboxDrain } from '../../store/outbox-drain.ts';
import { publishRecord } from '../../store/published-record.ts';
import type { SpanSender } from '../../tracing/otlp/sender.ts';
import { VERSION } from '../version.ts';
import { elected } from './elected.ts';
import { compareHistoryDatabase, useHistoryDatabase } from './history-database.ts';
import { createHistoryDelivery } from './history-delivery.ts';
import type { ProcessCore } from './manage-component.ts';
import { onlyHost } from './own-installation.ts';
import { pruneHistory } from './prune-history.ts';
import { createSpanDrain, createSpanSender, senderReport } from './span-delivery.ts';
import { type Part, type Supervised, supervise } from './supervise.ts';

/** Milliseconds the sender may take to finish when the service stops. */
const SEND_GRACE = 2_000;

/** One per process with a scheduler; only the leader's sends. Its counters are metrics. */
export interface SpanDelivery {
  /** Undefined: this process has sent nothing yet, or tracing is off. */
  sender(): SpanSender | undefined;
  /** Of this process's drain; undefined as for {@link sender}. */
  outbox(): OutboxCounters | undefined;
  /** Sends what fits into a short grace period; the rest waits for the next leader. */
  close(): Promise<void>;
}

/** Follows `[tracing]` when it is reloaded; while tracing is off, stored rows wait. */
export function startSpanDelivery(core: ProcessCore): SpanDelivery {
  const begin = () => {
    const settings = core.tracing.settings();
    return settings.kind === 'on' ? deliverSpans(core, settings) : undefined;
  };
  let current = begin();
  let closed = false;
  let replacing = Promise.resolve();
  const changes = core.tracing.onChange(() => {
    replacing = replacing.then(async () => {
      await current?.close();
      current = closed ? undefined : begin();
    });
  });
  return {
    sender: () => current?.sender(),
    outbox: () => current?.outbox(),
    async close() {
      closed = true;
      changes[Symbol.dispose]();
      await replacing;
      await current?.close();
    },
  };
}

/** Delivers with fixed settings until `close`; never rejects. */
function deliverSpans(core: ProcessCore, tracing: TracingOn): SpanDelivery {
  const { settings, paths, clock, log, ids } = core;
  let sender: SpanSender | undefined;
  let drain: OutboxDrain | undefined;

  const part = superviseDelivery(core, 'span delivery', async store => {
    sender ??= createSpanSender({
      settings: tracing,
      clock,
      log,
      version: VERSION,
      instance: await installationId(store, paths, ids),
      host: onlyHost(settings, core.host),
      backlog: () => drain?.counters().depth ?? 0,
    });
    const own = sender;
    const report = publishRecord({
      what: 'the report of the span delivery',
      store,
      path: paths.senderReport,
      log,
      encode: () =>
        senderReportCodec.encode(senderReport(own.health(), tracing, { at: clock.now(), host: core.host })),
    });
    const draining = createSpanDrain({
      settings: tracing,
      sender,
      store,
      paths,
      clock,
      log,
      onProgress: () => report.touch(),
    });
    drain = draining;
    return elected({ store, path: paths.election('spans'), guid: ids.uuid() }, signal =>
      report.during(signal, () => draining.run(signal)),
    );
  });
  return {
    sender: () => sender,
    outbox: () => drain?.counters(),
    async close() {
      await sender?.close(SEND_GRACE);
      await part.close();
    },
  };
}

/** One per process with a web; only the leader's writes. */
export interface HistoryDelivery {
  /** Of this process's drain; undefined: it has not begun. */
  outbox(): OutboxCounters | undefined;
  close(): Promise<void>;
}

/** Until `close`. */
export function startHistoryDelivery(core: ProcessCore, history: History): HistoryDelivery {
  const { paths, clock, log, ids } = core;
  let current: OutboxDrain | undefined;
  const part = superviseDelivery(core, 'history delivery', async store => {
    const drain = createHistoryDelivery({ history, store, paths, clock, log });
    current = drain;
    await compareHistoryDatabase({ store, paths, history, log });
    return elected({ store, path: paths.election('history'), guid: ids.uuid() }, async signal => {
      await useHistoryDatabase({ store, paths, history, log, ids });
      const keep = core.settings.history.keep;
      const ended = new AbortController();
      const pruning = pruneHistory(
        { history, keep, clock, log, metrics: core.metrics },
        AbortSignal.any([signal, ended.signal]),
      );
      try {
        await drain.run(signal);
      } finally {
        ended.abort();
        await pruning;
      }
    });
  });
  return { outbox: () => current?.counters(), close: () => part.close() };
}

/** Deliveries restart after any failure: the gate does not depend on them. */
function superviseDelivery(
  core: ProcessCore,
  name: string,
  start: Parameters<typeof supervise>[0]['start'],
): Supervised<Part> {
  return supervise({
    name,
    storeName: core.storeName,
    connect: signal => core.connect(name, signal),
    start,
    isRetryable: () => true,
    clock: core.clock,
    log: core.log,
    random: Math.random,
  });
}
