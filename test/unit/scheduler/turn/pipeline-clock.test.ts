import { expect, test } from 'vitest';
import { addMilliseconds, type Nanoseconds } from '../../../../src/lib/clock.ts';
import { latestTime, pipelineClock } from '../../../../src/scheduler/turn/pipeline-clock.ts';

const NOW = '1795000000000000000' as Nanoseconds;
const later = (ms: number) => addMilliseconds(NOW, ms);
const standing = () => pipelineClock({ now: () => NOW, monotonic: () => 0 });

test('a clock that is behind the records counts up from the latest of their times', () => {
  const clock = standing();
  clock.catchUp([{ timeline: [{ since: later(5) }, { since: later(3) }] }]);
  expect([clock.now(), clock.now()].map(BigInt)).toEqual([BigInt(later(5)) + 1n, BigInt(later(5)) + 2n]);
});

test('the time at which a code host is to be asked again has not been yet', () => {
  const item = {
    timeline: [{ since: later(-100) }],
    hostWait: { since: later(-50), retryAt: later(30_000), notBefore: later(20_000) },
  };
  expect(latestTime([item])).toBe(later(-50));
  const clock = standing();
  clock.catchUp([item]);
  expect(clock.now()).toBe(NOW);
});
