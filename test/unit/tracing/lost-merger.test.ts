/** A merger is killed five seconds after it took a request, and missed half a minute later: the merge takes what the mergers worked. */
import { expect, test } from 'vitest';
import { explainItem } from '../../../src/explain/explain.ts';
import { addMilliseconds, type Nanoseconds } from '../../../src/lib/clock.ts';
import type { WorkerLoss } from '../../../src/model/worker-loss.ts';
import { itemSpans } from '../../../src/tracing/spans/item-spans.ts';
import { accountOf } from '../../fake/account-of-spans.ts';
import { asArrived } from '../../fake/check-traces.ts';
import { job, World } from '../pipeline/world.ts';

const SECOND = 1000;

/** The item as it was when the second merger had answered, 40 s after the request. */
function mergedAfter(lossesOf: (asked: Nanoseconds) => readonly WorkerLoss[]) {
  const world = new World();
  world.jobs('app', [job('unit')]);
  world.change('A', { project: 'app' });
  const gate = world.pipeline('gate', { manager: 'dependent' });
  gate.enqueue('A');
  const asked = gate.item('A').buildset.mergerWork[0]?.requestedAt ?? expect.unreachable();
  while (BigInt(world.now) < BigInt(addMilliseconds(asked, 40 * SECOND))) world.tick();
  const losses = lossesOf(asked);
  gate.turn(gate.merges.map(merge => ({ ...gate.mergeEvent(merge), losses })));
  return { gate, item: gate.item('A'), asked, now: world.now };
}

const loss = (asked: Nanoseconds, from: number, at: number): WorkerLoss => ({
  from: addMilliseconds(asked, from * SECOND),
  at: addMilliseconds(asked, at * SECOND),
});

test('time without a merger is a wait of its own, and the rest of the merge stays one', () => {
  const { gate, item, asked, now } = mergedAfter(begun => [loss(begun, 5, 35)]);
  const explained = explainItem(item, now);
  expect(
    explained.stretches.slice(0, 3).map(({ state, duration }) => [state, Number(duration) / 1e9]),
  ).toEqual([
    ['merge', 5],
    ['merger-lost', 30],
    ['merge', expect.any(Number)],
  ]);
  expect(explained.criticalPath[1]?.text).toBe('waited until the loss of its merger was noticed');
  const wait = itemSpans(item).find(({ name }) => name === 'Wait merger-lost');
  expect([wait?.start, wait?.end]).toEqual([
    addMilliseconds(asked, 5 * SECOND),
    addMilliseconds(asked, 35 * SECOND),
  ]);
  expect(wait?.attributes['gatehouse.wait.subject']).toBe('merge');

  gate.turn(gate.builds.map(build => gate.resultEvent(build, 'SUCCESS')));
  gate.turn(gate.reports.map(report => gate.reportEvent(report)));
  const account = accountOf(itemSpans(gate.left[0] ?? expect.unreachable()).map(asArrived));
  expect(account.totals.get('wait merger-lost')).toBe(30_000_000_000n);
  expect(account.waits + account.work).toBe(account.duration);
  expect(account.path.slice(0, 2).map(({ label }) => label)).toEqual(['work merge', 'wait merger-lost']);
});

test.each([
  ['before the request', -20, 10, 10],
  ['after the answer', 30, 90, 10],
  ['that begins after it was noticed', 20, 10, 0],
])('a loss %s, by another clock, counts within the request', (_, from, at, expected) => {
  const { item, now } = mergedAfter(asked => [loss(asked, from, at)]);
  const { totals, duration } = explainItem(item, now);
  const lost = totals.find(({ state }) => state === 'merger-lost')?.duration ?? '0';
  expect(Math.round(Number(lost) / 1e9)).toBeGreaterThanOrEqual(expected);
  expect(Math.round(Number(lost) / 1e9)).toBeLessThanOrEqual(expected + 1);
  expect(totals.reduce((sum, total) => sum + BigInt(total.duration), 0n)).toBe(BigInt(duration));
});

test('two losses that overlap are counted once', () => {
  const { item, now } = mergedAfter(asked => [loss(asked, 5, 20), loss(asked, 10, 30)]);
  const lost = explainItem(item, now).stretches.filter(({ state }) => state === 'merger-lost');
  expect(lost.map(({ duration }) => Number(duration) / 1e9)).toEqual([25]);
});
