/** What the tests of queues share: a clock that stands still until moved, and a codec that refuses what says so. */
import { addMilliseconds, type Clock, parseNanoseconds } from '../../../src/lib/clock.ts';
import type { BytesCodec } from '../../../src/store/event-queue.ts';

export interface ManualClock extends Clock {
  advance(ms: number): void;
}

export function manualClock(): ManualClock {
  let now = parseNanoseconds('1795000000000000000');
  let monotonic = 0;
  return {
    now: () => now,
    monotonic: () => monotonic,
    advance: ms => {
      now = addMilliseconds(now, ms);
      monotonic += ms;
    },
  };
}

export const textCodec: BytesCodec<string> = {
  encode: value => new TextEncoder().encode(value),
  decode: bytes => {
    const text = new TextDecoder().decode(bytes);
    if (text.startsWith('bad')) throw new Error(`cannot read ${JSON.stringify(text)}`);
    return text;
  },
};
