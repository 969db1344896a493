/**
 * The worker threads of this process that serve calls (worker-calls.ts). Starting one takes 20 to 35 ms of processor time, much of it
 * to load its module once more; so one that is no longer used serves the next who want the same module, if they come soon.
 */
import { Worker } from 'node:worker_threads';

/** What a thread hears. `serve` begins its work for one user, `leave` ends it. */
export type ToCallThread =
  | { readonly kind: 'serve'; readonly data: unknown }
  | { readonly kind: 'call'; readonly name: string; readonly argument: unknown }
  | { readonly kind: 'leave' };

/** What it answers to the last two. */
export type FromCallThread =
  /** Of the type in the table, which both threads share. */
  | { readonly kind: 'returned'; readonly value: never }
  | { readonly kind: 'threw'; readonly error: Error }
  | { readonly kind: 'left' };

interface ThreadUser {
  hears(answer: FromCallThread): void;
  /** @param failure what ended the thread, where it says so. */
  ended(failure: unknown): void;
}

interface Kept {
  readonly key: string;
  readonly worker: Worker;
  user: ThreadUser | undefined;
}

/** A thread at the service of one user. It keeps the process running only between `worker.ref()` and `unref()`. */
export interface CallThread {
  readonly worker: Worker;
  send(message: ToCallThread): void;
  /** For one at rest. Resolves when the thread has let go of what it opened, or has ended over it. */
  giveBack(): Promise<void>;
  /** Ends it, also at work. */
  terminate(): Promise<unknown>;
}

/** Milliseconds for which an unused thread is kept. */
const KEEP_MS = 10_000;

const unused = new Set<Kept>();

/** @param entry module that calls `serveCalls`. */
export function takeThread(entry: URL, heapMb: number, data: unknown, user: ThreadUser): CallThread {
  const key = `${heapMb} ${entry.href}`;
  const kept = [...unused].find(each => each.key === key) ?? startThread(key, entry, heapMb);
  unused.delete(kept);
  kept.user = user;
  const { worker } = kept;
  const send = (message: ToCallThread) => worker.postMessage(message);
  send({ kind: 'serve', data });
  return {
    worker,
    send,
    terminate() {
      kept.user = undefined;
      return worker.terminate();
    },
    async giveBack() {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      kept.user = { hears: () => resolve(true), ended: () => resolve(false) };
      worker.ref();
      send({ kind: 'leave' });
      const lives = await promise;
      kept.user = undefined;
      worker.unref();
      if (lives) keep(kept);
    },
  };
}

function startThread(key: string, entry: URL, heapMb: number): Kept {
  const worker = new Worker(entry, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: heapMb } });
  const kept: Kept = { key, worker, user: undefined };
  let failure: unknown;
  worker.on('message', (answer: FromCallThread) => kept.user?.hears(answer));
  worker.on('error', error => {
    failure = error;
  });
  worker.on('exit', () => {
    unused.delete(kept);
    kept.user?.ended(failure);
  });
  return kept;
}

function keep(kept: Kept): void {
  unused.add(kept);
  setTimeout(() => {
    if (unused.delete(kept)) void kept.worker.terminate();
  }, KEEP_MS).unref();
}
