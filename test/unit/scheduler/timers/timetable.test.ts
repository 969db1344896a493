/** What is due, what was missed, and when the next moment is. */
import { expect, test } from 'vitest';
import { parseCron } from '../../../../src/lib/cron.ts';
import { projectKey } from '../../../../src/model/project.ts';
import {
  branchesWithin,
  dueBetween,
  nextMoment,
  type Timer,
} from '../../../../src/scheduler/timers/timetable.ts';

const APP = projectKey({ connection: 'local', name: 'acme/app' });
const at = (time: string) => Date.parse(`2026-03-02T${time}Z`);

/** @param delays of the branches `b0`, `b1`, ... in seconds. */
function timer(time: string, ...delays: readonly number[]): Timer {
  const read = parseCron(time, 'UTC');
  if (read.kind === 'invalid') throw new Error(read.reason);
  const branches = delays.map((delay, index) => ({
    project: APP,
    branch: `b${index}`,
    delay: delay * 1_000,
  }));
  return { name: `nightly ${time}`, pipeline: 'nightly', time, times: read.times, branches };
}

function due(timers: readonly Timer[], from: string, to: string) {
  const { ticks, missed } = dueBetween(timers, at(from), at(to));
  return {
    events: ticks.flatMap(tick =>
      branchesWithin(tick.timer, tick.at, tick.from, tick.to).map(
        ({ branch }) => `${new Date(tick.at).toISOString().slice(11, 19)} ${branch}`,
      ),
    ),
    missed: missed.map(({ events, isMore }) => (isMore ? `more than ${events}` : events)),
  };
}

test('a time that has come is due once: not before, and not again', () => {
  const timers = [timer('0 3 * * *', 0, 0)];
  expect(due(timers, '02:59:00', '02:59:59').events).toEqual([]);
  expect(due(timers, '02:59:59', '03:00:00').events).toEqual(['03:00:00 b0', '03:00:00 b1']);
  expect(due(timers, '03:00:00', '03:00:30').events).toEqual([]);
});

test('each branch comes after its own delay', () => {
  const timers = [timer('0 3 * * * 0 60', 5, 20, 40)];
  expect(due(timers, '02:59:50', '03:00:04').events).toEqual([]);
  expect(due(timers, '03:00:04', '03:00:20').events).toEqual(['03:00:00 b0', '03:00:00 b1']);
  expect(due(timers, '03:00:20', '03:00:50').events).toEqual(['03:00:00 b2']);
});

test('a delay may be longer than the time between two ticks', () => {
  const timers = [timer('* * * * * 0 300', 0, 150)];
  expect(due(timers, '03:02:25', '03:03:00').events).toEqual(['03:00:00 b1', '03:03:00 b0']);
});

test('what passed more than a minute ago is missed, and not made up', () => {
  const timers = [timer('*/10 * * * *', 0, 0)];
  expect(due(timers, '03:00:00', '03:40:30')).toEqual({
    events: ['03:40:00 b0', '03:40:00 b1'],
    missed: [6],
  });
});

test('a long absence is reported without counting all of it', () => {
  expect(due([timer('* * * * * *', 0)], '00:00:00', '23:00:00').missed).toEqual(['more than 200']);
});

test('nothing is due while the clock is behind the mark', () => {
  expect(due([timer('* * * * * *', 0)], '03:00:00', '02:58:00')).toEqual({ events: [], missed: [] });
});

test('the next moment is the first of all branches of all timers', () => {
  const next = (timers: readonly Timer[], now: string) => {
    const found = nextMoment(timers, at(now));
    return found === null ? null : new Date(found).toISOString().slice(11, 19);
  };
  expect(next([timer('0 3 * * *', 0), timer('30 2 * * *', 0)], '00:00:00')).toBe('02:30:00');
  expect(next([timer('0 3 * * * 0 60', 5, 20)], '03:00:05')).toBe('03:00:20');
  expect(next([timer('* * * * * 0 300', 0, 150)], '03:02:00')).toBe('03:02:30');
  expect(next([timer('0 0 30 2 *', 0)], '00:00:00')).toBeNull();
  expect(next([], '00:00:00')).toBeNull();
});
