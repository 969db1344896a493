/** What worker-calls.test.ts calls. */
import { isMainThread, threadId } from 'node:worker_threads';
import { serveCalls } from '../../../src/lib/worker-calls.ts';

export interface Trials {
  double(value: number): number;
  /** Never comes back. */
  burn(nothing: null): never;
  /** Computes until the first number is at least `most`: the caller shares the memory. */
  burnUntil(until: { readonly count: SharedArrayBuffer; readonly most: number }): number;
  /** Megabytes. */
  hoard(mb: number): number;
  fail(text: string): never;
  /** Of this thread. */
  id(nothing: null): number;
  /** Users before this one whose tables were let go. */
  left(nothing: null): number;
}

let left = 0;

if (!isMainThread)
  serveCalls<Trials, null>(() => ({
    double: value => value * 2,
    burn() {
      for (;;) Math.random();
    },
    burnUntil({ count, most }) {
      const counted = new Int32Array(count);
      while (Atomics.load(counted, 0) < most) Math.random();
      return Atomics.load(counted, 0);
    },
    hoard(mb) {
      const kept: number[][] = [];
      for (let index = 0; index < mb; index++)
        kept.push(Array.from({ length: 131_072 }, () => Math.random()));
      return kept.length;
    },
    fail(text) {
      throw new Error(text);
    },
    id: () => threadId,
    left: () => left,
    [Symbol.dispose]() {
      left += 1;
    },
  }));
