/** A scheduler is killed while a job runs, and another one takes over: the job ends meanwhile, and its result lies unread. */
import { expect, it } from 'vitest';
import { explainItem } from '../../../../src/explain/explain.ts';
import { explainText } from '../../../../src/explain/explain-text.ts';
import { addMilliseconds, type Nanoseconds } from '../../../../src/lib/clock.ts';
import type { SpanRecord } from '../../../../src/model/span.ts';
import { endedSpans, itemSpans } from '../../../../src/tracing/spans/item-spans.ts';
import { asArrived, checkTraces } from '../../../fake/check-traces.ts';
import { job, World } from '../../pipeline/world.ts';

function story(takeovers: number) {
  const world = new World();
  world.jobs('app', [job('unit')]);
  world.change('A', { project: 'app' });
  const gate = world.pipeline('gate', { manager: 'dependent' });
  gate.enqueue('A');
  const versions = [gate.item('A')];
  const play = (events: Parameters<typeof gate.turn>[0]) => {
    const { left } = gate.turn(events);
    versions.push(left[0] ?? gate.item('A'));
  };
  play(gate.merges.map(merge => gate.mergeEvent(merge)));
  const [build] = gate.builds;
  if (build === undefined) throw new Error('no build was asked for');
  const taken = world.now;
  play([gate.startEvent(build)]);
  const killed = world.now;
  for (let times = 1; times < takeovers; times += 1) {
    gate.takenOver(100);
    play([]);
  }
  gate.takenOver(36_000);
  const over = world.now;
  const done = addMilliseconds(killed, 5000);
  const result = gate.resultEvent(build, 'SUCCESS');
  if (result.kind !== 'build-result') throw new Error('no result');
  play([{ ...result, at: done, execution: { startedAt: taken, endedAt: done, steps: [] } }]);
  play(gate.reports.map(report => gate.reportEvent(report)));
  const item = versions.at(-1)!;
  if (item.phase.phase !== 'left') throw new Error('it has not left');
  return { item, versions, killed, done, over, left: item.phase.at };
}

const text = (item: Parameters<typeof explainItem>[0], now: Nanoseconds) =>
  explainText(explainItem(item, now), { width: 100, colour: false });

it('is a span beside the work that went on, and named in the wait it caused', () => {
  const { item, killed, done, over } = story(1);
  const spans = itemSpans(item);
  const root = spans.find(({ parent }) => parent === null)!;
  const [takeover] = spans.filter(({ name }) => name === 'Takeover');
  expect(takeover).toMatchObject({ parent: root.spanId, start: killed, end: over, kind: 'internal' });
  expect(takeover?.attributes).toMatchObject({
    'gatehouse.takeover.from': 'ci0/1',
    'gatehouse.takeover.to': 'ci1/1',
    'gatehouse.takeover.how': 'lost',
  });
  expect(root.attributes['gatehouse.takeovers']).toBe(1);
  const [wait, other] = spans.filter(({ name }) => name === 'Wait scheduler');
  expect(wait?.start).toBe(done);
  expect(other?.attributes).not.toHaveProperty('gatehouse.takeover.to');
  expect(wait?.attributes).toMatchObject({
    'gatehouse.takeover.from': 'ci0/1',
    'gatehouse.takeover.to': 'ci1/1',
  });
});

it('is sent once, as the finished record has it', () => {
  const { item, versions } = story(3);
  const sent = versions.flatMap((after, index) => endedSpans(versions[index - 1], after));
  const byId = (spans: readonly SpanRecord[]) => spans.toSorted((a, b) => (a.spanId < b.spanId ? -1 : 1));
  expect(byId(sent)).toEqual(byId(itemSpans(item)));
  expect(sent.filter(({ name }) => name === 'Takeover')).toHaveLength(3);
  expect(checkTraces(sent.map(asArrived))).toEqual([]);
});

it('is in `explain`: both processes, and how long it took', () => {
  const { item, left } = story(1);
  expect(text(item, left)).toContain(
    'Its pipeline was taken over\n  ⇄ at 2.0s     ci0/1 was gone; ci1/1 went on after 36s',
  );
  expect(explainItem(item, left).takeovers).toMatchObject([{ from: 'ci0/1', duration: '36000000000' }]);
});

it('is only counted beyond the first sixteen', () => {
  const { item, left } = story(20);
  const { takeovers, moreTakeovers } = explainItem(item, left);
  expect(takeovers).toHaveLength(16);
  expect(moreTakeovers).toEqual({ count: 4, duration: '36300000000' });
  expect(text(item, left)).toContain('and 4 more, 36s without a scheduler in all');
  const root = itemSpans(item).find(({ parent }) => parent === null);
  expect(root?.attributes['gatehouse.takeovers']).toBe(20);
});
