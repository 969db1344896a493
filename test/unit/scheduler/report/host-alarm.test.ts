import { expect, test } from 'vitest';
import { addMilliseconds } from '../../../../src/lib/clock.ts';
import type { HostWait } from '../../../../src/model/host-trouble.ts';
import type { PipelineState } from '../../../../src/model/pipeline-state.ts';
import { createHostAlarm } from '../../../../src/scheduler/report/host-alarm.ts';
import { itemStory } from '../../../fake/queue-item.ts';
import { APP, CONFIG } from '../fake-host.ts';

const item = itemStory().wait(1).item;
const START = item.enqueuedAt;
const MINUTE = 60_000;
const later = (minutes: number) => addMilliseconds(START, minutes * MINUTE);

const waitFor = (project: HostWait['project'], sinceMinutes: number): HostWait => ({
  doing: 'merge',
  project,
  reason: 'limited',
  text: 'HTTP 403',
  since: later(sinceMinutes),
  retryAt: later(sinceMinutes + 1),
  tries: 3,
});

/** A pipeline whose items wait like this. */
const stateWith = (...waits: readonly HostWait[]) =>
  ({
    items: new Map(waits.map((hostWait, place) => [String(place), { ...item, hostWait }])),
  }) as unknown as PipelineState;

function openAlarm() {
  const lines: string[] = [];
  const write = (level: string) => (facts: object, text: string) => {
    lines.push(`${level} ${text}${'items' in facts ? ` (${facts.items} items)` : ''}`);
  };
  return { alarm: createHostAlarm({ error: write('error'), info: write('info') }), lines };
}

test('a wait of five minutes is an error once, with the oldest of its items, and its end is said', () => {
  const { alarm, lines } = openAlarm();
  const waiting = stateWith(waitFor(APP, 2), waitFor(APP, 0), waitFor(CONFIG, 4));
  alarm.observe(waiting, later(4.9));
  expect(lines).toEqual([]);
  alarm.observe(waiting, later(5));
  alarm.observe(waiting, later(6));
  expect(lines).toEqual([
    'error the code host of local/acme/app has been in trouble for 5m 00s: HTTP 403 (2 items)',
  ]);
  alarm.observe(stateWith(), later(8));
  alarm.observe(stateWith(), later(9));
  expect(lines.slice(1)).toEqual([
    'info nothing waits for the code host of local/acme/app any more, after 8m 00s',
  ]);
});

test('the next trouble of the same host is another one', () => {
  const { alarm, lines } = openAlarm();
  for (const begin of [0, 20]) {
    alarm.observe(stateWith(waitFor(APP, begin)), later(begin + 5));
    alarm.observe(stateWith(), later(begin + 6));
  }
  expect(lines.map(line => line.split(' ')[0])).toEqual(['error', 'info', 'error', 'info']);
});
