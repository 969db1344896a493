/**
 * A record that one process keeps up to date for all others to display: one node, written after a change, but not more often
 * than once per interval.
 *
 *     const report = publishRecord({ store, path: paths.senderReport, encode: () => senderReportCodec.encode(read()), what, log });
 *     await report.during(signal, () => drain.run(signal));     // elsewhere, after each delivery: report.touch()
 */
import { aborted } from '../lib/aborted.ts';
import type { Log } from '../lib/log.ts';
import { pause } from '../lib/pause.ts';
import { isOutOfContact } from './connection.ts';
import { ensureNode } from './ensure-node.ts';
import { type Store, set } from './port.ts';

interface PublishedRecord {
  /** The record changed. */
  touch(): void;
  /** Writes while `work` runs, and once more at its end. */
  during(signal: AbortSignal, work: () => Promise<void>): Promise<void>;
}

interface PublishedRecordDeps {
  readonly store: Store;
  readonly path: string;
  /** Encodes the record as it is now. */
  readonly encode: () => Uint8Array;
  /** For the log, e.g. `the report of the span delivery`. */
  readonly what: string;
  readonly log: Pick<Log, 'debug' | 'warn'>;
  /** Waits between two writes; default by the real clock. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const WRITE_EVERY = 1_000;

/** @returns a writer that writes nothing until `during`. A failed write is logged only: the next one replaces it. */
export function publishRecord(deps: PublishedRecordDeps): PublishedRecord {
  const { store, path, encode, what, log } = deps;
  let change = Promise.withResolvers<void>();

  async function write(): Promise<void> {
    try {
      await store.multi([set(path, encode())]);
    } catch (error) {
      // Nothing depends on it: the next change, or the next writer, writes again.
      if (isOutOfContact(error)) log.debug({ err: error }, `${what} was not written`);
      else log.warn({ err: error }, `${what} cannot be written`);
    }
  }

  async function writeUntil(signal: AbortSignal): Promise<void> {
    const over = aborted(signal);
    while (!signal.aborted) {
      change = Promise.withResolvers();
      await write();
      await (deps.pause ?? pause)(WRITE_EVERY, signal);
      await Promise.race([change.promise, over]);
    }
    await write();
  }

  return {
    touch: () => change.resolve(),
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
