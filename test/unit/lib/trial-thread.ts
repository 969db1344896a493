/** What worker-calls.test.ts calls. */
import { isMainThread } from 'node:worker_threads';
import { serveCalls } from '../../../src/lib/worker-calls.ts';

export interface Trials {
  double(value: number): number;
  /** Milliseconds by the clock. */
  burn(ms: number): number;
  /** Megabytes. */
  hoard(mb: number): number;
  fail(text: string): never;
}

if (!isMainThread)
  serveCalls<Trials>({
    double: value => value * 2,
    burn(ms) {
      const end = performance.now() + ms;
      let turns = 0;
      while (performance.now() < end) turns++;
      return turns;
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
  });
