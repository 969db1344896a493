/**
 * A record that one process keeps up to date for all others to show: one node, written when something is different and at most every
 * so often.
 *
 *     const report = publishRecord({ store, path: paths.senderReport, encode: () => senderReportCodec.encode(read()), what, log });
 *     await report.during(signal, () => drain.run(signal));     // elsewhere, after each delivery: report.touch()
 */
import type { Log } from '../lib/log.ts';
import { pause } from '../lib/pause.ts';
import { isOutOfContact } from './connection.ts';
import { ensureNode } from './ensure-node.ts';
import { type Store, set } from './port.ts';

interface PublishedRecord {
  /** Something is different. */
  touch(): void;
  /** Writes while the work goes on, and once more at its end. */
  during(signal: AbortSignal, work: () => Promise<void>): Promise<void>;
}

interface PublishedRecordDeps {
  readonly store: Store;
  readonly path: string;
  /** The record as it is now. */
  readonly encode: () => Uint8Array;
  /** For the log, e.g. `the report of the span delivery`. */
  readonly what: string;
  readonly log: Pick<Log, 'debug' | 'warn'>;
  /** Waits between two writings; default by the real clock. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const WRITE_EVERY = 1_000;

export function publishRecord(deps: PublishedRecordDeps): PublishedRecord {
  const { store, path, encode, what, log } = deps;
  let news = Promise.withResolvers<void>();

  async function write(): Promise<void> {
    try {
      await store.multi([set(path, encode())]);
    } catch (error) {
      // Nothing depends on it: the next news, or the next writer, writes again.
      if (isOutOfContact(error)) log.debug({ err: error }, `${what} was not written`);
      else log.warn({ err: error }, `${what} cannot be written`);
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
