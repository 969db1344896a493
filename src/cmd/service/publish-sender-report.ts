/**
 * Tells the webs how the delivery of spans fares: one node, written by whoever sends, when something is different and at most
 * every second.
 *
 *     const report = publishSenderReport({ store, path: paths.senderReport, read, log });
 *     await report.during(signal, () => drain.run(signal));     // elsewhere, after each delivery: report.touch()
 */
import type { Log } from '../../lib/log.ts';
import { pause } from '../../lib/pause.ts';
import { senderReportCodec } from '../../model/codec/records.ts';
import type { SenderReport } from '../../model/sender-report.ts';
import { isOutOfContact } from '../../store/connection.ts';
import { ensureNode } from '../../store/ensure-node.ts';
import { type Store, set } from '../../store/port.ts';

export interface SenderReporting {
  /** Something is different. */
  touch(): void;
  /** Writes while the work goes on, and once more at its end. */
  during(signal: AbortSignal, work: () => Promise<void>): Promise<void>;
}

export interface SenderReportDeps {
  readonly store: Store;
  readonly path: string;
  readonly read: () => SenderReport;
  readonly log: Pick<Log, 'debug' | 'warn'>;
  /** Waits between two writings; default by the real clock. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const WRITE_EVERY = 1_000;

export function publishSenderReport(deps: SenderReportDeps): SenderReporting {
  const { store, path, read, log } = deps;
  let news = Promise.withResolvers<void>();

  async function write(): Promise<void> {
    try {
      await store.multi([set(path, senderReportCodec.encode(read()))]);
    } catch (error) {
      // Nothing depends on it: the next news, or the next sender, writes again.
      if (isOutOfContact(error)) log.debug({ err: error }, 'how the delivery of spans fares was not written');
      else log.warn({ err: error }, 'how the delivery of spans fares cannot be written');
    }
  }

  async function writeUntil(signal: AbortSignal): Promise<void> {
    const over = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => over.resolve(), { once: true });
    if (signal.aborted) over.resolve();
    while (!signal.aborted) {
      news = Promise.withResolvers();
      await write();
      await (deps.pause ?? pause)(WRITE_EVERY, signal);
      await Promise.race([news.promise, over.promise]);
    }
    await write();
  }

  return {
    touch: () => news.resolve(),
    async during(signal, work) {
      await ensureNode(store, path, signal);
      const stop = new AbortController();
      const writing = writeUntil(AbortSignal.any([signal, stop.signal]));
      try {
        await work();
      } finally {
        stop.abort();
        await writing;
      }
    },
  };
}
