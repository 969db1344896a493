/** Times of timers: APScheduler's meaning of the fields. */
import { expect, test } from 'vitest';
import { parseCron } from '../../../src/lib/cron.ts';

/** A Thursday. */
const START = Date.parse('2026-01-01T00:00:00Z');

function times(text: string, count = 3, zone = 'UTC', start = START): readonly string[] {
  const read = parseCron(text, zone);
  if (read.kind === 'invalid') throw new Error(read.reason);
  const found: string[] = [];
  for (let at = start; found.length < count; ) {
    const next = read.times.next(at);
    if (next === null) break;
    found.push(new Date(next).toISOString().replace('T', ' ').replace('.000Z', ''));
    at = next;
  }
  return found;
}

test('five fields are minute, hour, day of month, month and day of week', () => {
  expect(times('30 2 * * *', 2)).toEqual(['2026-01-01 02:30:00', '2026-01-02 02:30:00']);
  expect(times('0 0 1 3,6 *', 2)).toEqual(['2026-03-01 00:00:00', '2026-06-01 00:00:00']);
});

test('Monday is 0 and Sunday is 6', () => {
  expect(times('0 0 * * 0', 1)).toEqual(['2026-01-05 00:00:00']);
  expect(times('0 0 * * 6', 1)).toEqual(['2026-01-04 00:00:00']);
  expect(times('0 0 * * mon-fri', 3)).toEqual([
    '2026-01-02 00:00:00',
    '2026-01-05 00:00:00',
    '2026-01-06 00:00:00',
  ]);
});

test('a step of days begins at Monday', () => {
  expect(times('0 0 * * */2', 4)).toEqual([
    '2026-01-02 00:00:00',
    '2026-01-04 00:00:00',
    '2026-01-05 00:00:00',
    '2026-01-07 00:00:00',
  ]);
});

test('a day has to match both of its fields', () => {
  expect(times('0 0 13 * fri', 2)).toEqual(['2026-02-13 00:00:00', '2026-03-13 00:00:00']);
});

test('a sixth field is the second, and a seventh the jitter', () => {
  expect(times('* * * * * 15,45', 2)).toEqual(['2026-01-01 00:00:15', '2026-01-01 00:00:45']);
  const read = parseCron('0 0 * * * 0 60');
  expect(read.kind === 'cron' ? read.times.jitter : read.reason).toBe(60);
});

test('a number with a step counts from that number on', () => {
  expect(times('5/20 * * * *', 4)).toEqual([
    '2026-01-01 00:05:00',
    '2026-01-01 00:25:00',
    '2026-01-01 00:45:00',
    '2026-01-01 01:05:00',
  ]);
});

test('the last day of a month has a name', () => {
  expect(times('0 6 last feb *', 2)).toEqual(['2026-02-28 06:00:00', '2027-02-28 06:00:00']);
});

test('a day that no month has never comes', () => {
  expect(times('0 0 30 2 *')).toEqual([]);
});

test('a time that the clocks skip comes once, after the gap', () => {
  const before = Date.parse('2026-03-28T12:00:00Z');
  expect(times('30 2 * * *', 2, 'Europe/Berlin', before)).toEqual([
    '2026-03-29 01:00:00',
    '2026-03-30 00:30:00',
  ]);
});

test.each([
  ['0 0 * *', 'it has 4 fields; write minute hour day month day-of-week [second [jitter]]'],
  ['60 * * * *', '"60" is no minute: numbers are 0 to 59'],
  ['0 0 * * 7', '"7" is no day of week: numbers are 0 to 6'],
  ['0 0 * * sun-mon', '"sun-mon" is no day of week: numbers are 0 to 6'],
  ['*/0 * * * *', '"*/0" is no minute: numbers are 0 to 59'],
  ['*/90 * * * *', '"*/90" is no minute: numbers are 0 to 59'],
  ['0 0 0 * *', '"0" is no day of month: numbers are 1 to 31'],
  ['0 0 * foo *', '"foo" is no month: numbers are 1 to 12'],
  ['@daily', 'it has 1 fields; write minute hour day month day-of-week [second [jitter]]'],
  [
    '* * * * * * 86400',
    'it is due more than 200 times within its jitter of 86400 seconds; shorten the jitter',
  ],
  [
    '* * * * * 0 12000',
    'it is due more than 200 times within its jitter of 12000 seconds; shorten the jitter',
  ],
  ['0 0 * * * 0 -5', 'jitter "-5" is not a number of seconds up to 86400'],
])('%s is no time', (text, reason) => {
  expect(parseCron(text)).toEqual({ kind: 'invalid', reason });
});

test('a jitter may span as many times as can be looked at', () => {
  expect(parseCron('* * * * * 0 11940').kind).toBe('cron');
  expect(parseCron('0 0 * * * 0 86400').kind).toBe('cron');
});
