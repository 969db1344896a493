/**
 * What leaves the store through outboxes: spans to the collector, rows to the history. Of all processes that could deliver,
 * one does (an election in the store); when it dies the next one goes on with what still waits.
 *
 * Spans are sent by processes that run a scheduler, history is written by those that run a web, which reads that database.
 */
import type { History } from '../../history/history.ts';
import { installationId } from '../../store/installation.ts';
import type { SpanSender } from '../../tracing/otlp/sender.ts';
import { VERSION } from '../version.ts';
import { elected } from './elected.ts';
import { compareHistoryDatabase, useHistoryDatabase } from './history-database.ts';
import { createHistoryDelivery } from './history-delivery.ts';
import type { ProcessCore } from './manage-component.ts';
import { createSpanDrain, createSpanSender } from './span-delivery.ts';
import { type Part, type Supervised, supervise } from './supervise.ts';

/** Milliseconds the sender may take to finish when the service stops. */
const SEND_GRACE = 2_000;

export interface SpanDelivery {
  /** Undefined: nothing was sent by this process yet. */
  sender(): SpanSender | undefined;
  /** Sends what can be sent in a moment; the rest waits for the next process. */
  close(): Promise<void>;
}

/** @returns undefined when tracing is off. */
export function startSpanDelivery(core: ProcessCore): SpanDelivery | undefined {
  const { settings, paths, clock, log, ids } = core;
  const { tracing } = settings;
  if (tracing.kind === 'off') return undefined;
  let sender: SpanSender | undefined;
  let backlog = () => 0;

  const part = superviseDelivery(core, 'span delivery', async store => {
    sender ??= createSpanSender({
      settings: tracing,
      clock,
      log,
      version: VERSION,
      instance: await installationId(store, paths, ids),
      host: settings.store.kind === 'embedded' ? core.host : undefined,
      backlog: () => backlog(),
    });
    const drain = createSpanDrain({ settings: tracing, sender, store, paths, clock, log });
    backlog = () => drain.counters().depth;
    return elected({ store, path: paths.election('spans'), guid: ids.uuid() }, signal => drain.run(signal));
  });
  return {
    sender: () => sender,
    async close() {
      await sender?.close(SEND_GRACE);
      await part.close();
    },
  };
}

/** Until `close`. */
export function startHistoryDelivery(core: ProcessCore, history: History): Pick<Supervised<Part>, 'close'> {
  const { paths, clock, log, ids } = core;
  return superviseDelivery(core, 'history delivery', async store => {
    const drain = createHistoryDelivery({ history, store, paths, clock, log });
    await compareHistoryDatabase({ store, paths, history, log });
    return elected({ store, path: paths.election('history'), guid: ids.uuid() }, async signal => {
      await useHistoryDatabase({ store, paths, history, log });
      await drain.run(signal);
    });
  });
}

/** Deliveries begin again after any failure: the gate does not depend on them. */
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
    mayMend: () => true,
    clock: core.clock,
    log: core.log,
    random: Math.random,
  });
}
