import { afterEach, describe, expect, it } from 'vitest';
import { type CallLost, callsToWorker, type WorkerLimits } from '../../../src/lib/worker-calls.ts';
import type { Trials } from './trial-thread.ts';

const LIMITS: WorkerLimits = { ms: 60_000, of: 'clock', heapMb: 64, waiting: 10 };
let calls = threadWith({});

afterEach(() => calls[Symbol.asyncDispose]());

describe('calls to a worker thread', () => {
  it('come back with the answer, in the order in which they were made', async () => {
    calls = threadWith({});
    const answers = await Promise.all([
      calls.call('double', 1),
      calls.call('double', 2),
      calls.call('double', 3),
    ]);
    expect(answers).toEqual([2, 4, 6]);
  });

  it('leave the event loop to others while they are busy', async () => {
    calls = threadWith({});
    const count = new SharedArrayBuffer(4);
    const timer = setInterval(() => Atomics.add(new Int32Array(count), 0, 1), 5);
    // The call ends when this thread has had ten turns meanwhile.
    expect(await calls.call('burnUntil', { count, most: 10 })).toBeGreaterThanOrEqual(10);
    clearInterval(timer);
  });

  it('reject with what the function throws, and the thread goes on', async () => {
    calls = threadWith({});
    await expect(calls.call('fail', 'no such thing')).rejects.toThrow('no such thing');
    expect(await calls.call('double', 4)).toBe(8);
  });

  it('are given up after their processor time, and the next one has a new thread', async () => {
    calls = threadWith({ ms: 1_000, of: 'processor' });
    const endless = calls.call('burn', null).catch((error: CallLost) => error.because);
    const behind = calls.call('double', 5);
    expect(await endless).toBe('time');
    expect(await behind).toBe(10);
  });

  it('that want more memory than the thread may have end alone', async () => {
    calls = threadWith({ heapMb: 24 });
    expect(await calls.call('hoard', 500).catch((error: CallLost) => error.because)).toBe('memory');
    expect(await calls.call('double', 6)).toBe(12);
  });

  it('are refused when too many wait', async () => {
    calls = threadWith({ waiting: 1 });
    const all = [1, 2, 3].map(value => calls.call('double', value).catch((error: CallLost) => error.because));
    expect(await Promise.all(all)).toEqual([2, 4, 'busy']);
  });

  it('that wait when it is closed are rejected', async () => {
    calls = threadWith({});
    const endless = calls.call('burn', null).catch((error: CallLost) => error.because);
    await calls[Symbol.asyncDispose]();
    expect(await endless).toBe('closed');
    await expect(calls.call('double', 1)).rejects.toThrow('closed');
  });

  it('go to the thread that the last user gave back, with a table of their own', async () => {
    calls = threadWith({ heapMb: 65 });
    const first = await calls.call('id', null);
    await calls[Symbol.asyncDispose]();
    calls = threadWith({ heapMb: 65 });
    const another = threadWith({ heapMb: 65 });
    const ids = [await calls.call('id', null), await another.call('id', null)];
    expect(ids[0]).toBe(first);
    expect(ids[1]).not.toBe(first);
    expect([await calls.call('left', null), await another.call('left', null)]).toEqual([1, 0]);
    await another[Symbol.asyncDispose]();
  });

  it('have another thread than the last user if that one was ended at work, or had another limit', async () => {
    calls = threadWith({ heapMb: 66 });
    const first = await calls.call('id', null);
    const endless = calls.call('burn', null).catch((error: CallLost) => error.because);
    await calls[Symbol.asyncDispose]();
    expect(await endless).toBe('closed');
    calls = threadWith({ heapMb: 66 });
    const second = await calls.call('id', null);
    await calls[Symbol.asyncDispose]();
    calls = threadWith({ heapMb: 67 });
    const third = await calls.call('id', null);
    expect(new Set([first, second, third]).size).toBe(3);
  });
});

function threadWith(limits: Partial<WorkerLimits>) {
  return callsToWorker<Trials>({
    entry: new URL('./trial-thread.ts', import.meta.url),
    data: null,
    limits: { ...LIMITS, ...limits },
  });
}
