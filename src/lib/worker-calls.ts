/**
 * Calls into a worker thread: work that may take long must not block the main event loop.
 *
 *     const calls = callsToWorker<ReadingTable>({ entry: readingThread, data, limits });
 *     await calls.call('query', statement);
 *     // in reading-thread.ts: serveCalls<ReadingTable, Place>(place => ({ query: … }))
 *
 * One call at a time, in the order in which they were made. A call that exceeds its time, or the memory of the thread, ends the
 * thread and rejects with {@link CallLost}; the next call starts another thread. Nothing is retried here. Native code that calls no
 * JavaScript (SQLite) is not ended: it has to call some now and then.
 */
import { parentPort, type Worker } from 'node:worker_threads';
import { assertNever } from './assert-never.ts';
import { type CallThread, type FromCallThread, type ToCallThread, takeThread } from './call-threads.ts';
import type { AnswerOf, ArgumentOf, Calls } from './calls.ts';

/** Bounds for what a worker thread may use; the caller knows how long its work may take. */
export interface WorkerLimits {
  /** Milliseconds per call: of processor time, which waiting on a busy machine does not use up, or by the clock. */
  readonly ms: number;
  readonly of: 'processor' | 'clock';
  /** Megabytes of heap. */
  readonly heapMb: number;
  /** Calls that may wait. */
  readonly waiting: number;
}

/** A call without an answer. `busy`: it was not started, because too many wait; otherwise its thread is gone. */
export class CallLost extends Error {
  readonly because: 'time' | 'memory' | 'crash' | 'closed' | 'busy';

  constructor(because: CallLost['because'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.because = because;
  }
}

interface Call {
  readonly name: string;
  readonly argument: unknown;
  resolve(value: never): void;
  reject(error: unknown): void;
}

/** Milliseconds between two checks of a call's usage; what it uses before the first is not counted. */
const LOOK = 100;

/** The thread starts with the first call. */
export function callsToWorker<Table>(options: {
  /** Module that calls {@link serveCalls}. */
  readonly entry: URL;
  /** What its table is made from; plain data. */
  readonly data: unknown;
  readonly limits: WorkerLimits;
}): Calls<Table> {
  const waiting: Call[] = [];
  let thread: CallThread | undefined;
  let current: { readonly call: Call; readonly watch: Disposable } | undefined;
  let closed = false;

  function start(): CallThread {
    const started = takeThread(options.entry, options.limits.heapMb, options.data, {
      hears(answer) {
        if (answer.kind === 'returned') finish(call => call.resolve(answer.value));
        else if (answer.kind === 'threw') finish(call => call.reject(answer.error));
      },
      ended: failure => drop(endedBy(failure)),
    });
    return started;
  }

  /** Drops the ended thread; the next call starts another one. */
  function drop(reason: CallLost): void {
    void thread?.terminate();
    thread = undefined;
    finish(call => call.reject(reason));
  }

  function finish(settle: (call: Call) => void): void {
    const ended = current;
    current = undefined;
    ended?.watch[Symbol.dispose]();
    thread?.worker.unref();
    if (ended !== undefined) settle(ended.call);
    next();
  }

  function next(): void {
    if (current !== undefined || closed) return;
    const call = waiting.shift();
    if (call === undefined) return;
    thread ??= start();
    thread.worker.ref();
    current = { call, watch: watchLimit(thread.worker, options.limits, drop) };
    try {
      thread.send({ kind: 'call', name: call.name, argument: call.argument });
    } catch (error) {
      // Not plain data.
      finish(each => each.reject(error));
    }
  }

  function call<Name extends keyof Table & string>(name: Name, argument: ArgumentOf<Table[Name]>) {
    return new Promise<AnswerOf<Table[Name]>>((resolve, reject) => {
      if (closed) return reject(new CallLost('closed', CLOSED));
      if (waiting.length >= options.limits.waiting)
        return reject(
          new CallLost('busy', `more than ${options.limits.waiting} calls wait for a worker thread`),
        );
      waiting.push({ name, argument, resolve, reject });
      next();
    });
  }

  return {
    call,
    async [Symbol.asyncDispose]() {
      closed = true;
      const ended = thread;
      const atRest = current === undefined;
      thread = undefined;
      const reason = new CallLost('closed', CLOSED);
      for (const each of waiting.splice(0)) each.reject(reason);
      finish(each => each.reject(reason));
      await (atRest ? ended?.giveBack() : ended?.terminate());
    },
  };
}

const CLOSED = 'the worker thread is closed';

function endedBy(failure: unknown): CallLost {
  const cause = failure === undefined ? {} : { cause: failure };
  if (failure instanceof Error && 'code' in failure && failure.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return new CallLost('memory', 'the worker thread ran out of memory', cause);
  const reason = failure instanceof Error ? `: ${failure.message}` : '';
  return new CallLost('crash', `the worker thread ended${reason}`, cause);
}

/** Ends the thread once the call has used up its time. Most calls end before the first look, and cost none. */
function watchLimit(thread: Worker, { ms, of }: WorkerLimits, end: (reason: CallLost) => void): Disposable {
  if (ms === Number.POSITIVE_INFINITY) return { [Symbol.dispose]: () => {} };
  const begun = performance.now();
  let before: number | undefined;
  const look = async () => {
    const used = of === 'clock' ? performance.now() - begun : await processorTime(thread);
    if (used === undefined) return;
    before ??= of === 'clock' ? 0 : used;
    if (used - before < ms) return;
    timer[Symbol.dispose]();
    end(new CallLost('time', `a call took more than ${ms / 1000} s of ${of} time in its worker thread`));
  };
  const timer = setInterval(() => void look(), LOOK);
  return timer;
}

/** Milliseconds; undefined: the thread is not running yet, or no longer. */
async function processorTime(thread: Worker): Promise<number | undefined> {
  try {
    const { user, system } = await thread.cpuUsage();
    return (user + system) / 1000;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_NOT_RUNNING')
      return undefined;
    throw error;
  }
}

/** A table, which may have something to let go when its user leaves. */
type Served<Table> = {
  readonly [Name in keyof Table]: (argument: ArgumentOf<Table[Name]>) => unknown;
} & Partial<Disposable>;

/**
 * In the worker thread: answers calls until the thread is ended.
 *
 * @param open makes the table of each user from its data; what it throws ends the thread.
 */
export function serveCalls<Table, Data>(open: (data: Data) => Served<Table> | Promise<Served<Table>>): void {
  const port = parentPort;
  if (port === null) throw new Error('calls are served in a worker thread only');
  const say = (message: FromCallThread) => port.postMessage(message);
  let table: Promise<Served<Table>> | undefined;

  port.on('message', (message: ToCallThread) => {
    void hear(message);
  });

  async function hear(message: ToCallThread): Promise<void> {
    switch (message.kind) {
      case 'serve':
        // Both sides have the type.
        table = Promise.resolve(open(message.data as Data));
        await table;
        return;
      case 'call':
        return answer(message.name as keyof Table, message.argument as never);
      case 'leave':
        (await table)?.[Symbol.dispose]?.();
        table = undefined;
        return say({ kind: 'left' });
      default:
        return assertNever(message, 'message to a thread');
    }
  }

  async function answer(name: keyof Table, argument: never): Promise<void> {
    const served = await table;
    if (served === undefined) throw new Error('a call before its table');
    try {
      say({ kind: 'returned', value: (await served[name](argument)) as never });
    } catch (error) {
      say({ kind: 'threw', error: error instanceof Error ? error : new Error(String(error)) });
    }
  }
}
