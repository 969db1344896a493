/** A job runs for five seconds, and its result lies unread for 36: the figure every reader of the record must come to is five. */
import { describe, expect, it } from 'vitest';
import { explainItem } from '../../../src/explain/explain.ts';
import { rowsOfItem } from '../../../src/history/item-rows.ts';
import { addMilliseconds, type Nanoseconds } from '../../../src/lib/clock.ts';
import { itemMeasurements } from '../../../src/metrics/item-measurements.ts';
import type { PipelineEvent } from '../../../src/model/event.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import { withChanged } from '../../../src/scheduler/turn/changed-items.ts';
import { seenSuccesses } from '../../../src/scheduler/turn/seen-successes.ts';
import { itemSpans } from '../../../src/tracing/spans/item-spans.ts';
import { accountOf, disagreement, largestDifference, piecesOf } from '../../fake/account-of-spans.ts';
import { asArrived } from '../../fake/check-traces.ts';
import { job, World } from '../pipeline/world.ts';

const SECOND = 1000;

/** @param meanwhile events read with the result, and what the host says meanwhile. @param start whether the start is read at once, or never before the result. */
function story(
  meanwhile: (world: World) => readonly PipelineEvent[] = () => [],
  start: 'read' | 'unread' = 'read',
) {
  const world = new World();
  world.jobs('app', [job('unit')]);
  world.change('A', { project: 'app' });
  const gate = world.pipeline('gate', { manager: 'dependent' });
  gate.enqueue('A');
  gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
  const [build] = gate.builds;
  if (build === undefined) throw new Error('no build was asked for');
  const taken = world.now;
  if (start === 'read') gate.turn([gate.startEvent(build)]);
  const done = addMilliseconds(taken, 5 * SECOND);
  const result = gate.resultEvent(build, 'SUCCESS');
  if (result.kind !== 'build-result') throw new Error('no result');
  const reported = { ...result, at: done, execution: { startedAt: taken, endedAt: done, steps: [] } };
  while (BigInt(world.now) < BigInt(addMilliseconds(taken, 40 * SECOND))) world.tick();
  const before = gate.state;
  const output = gate.turn([reported, ...meanwhile(world)]);
  const item = output.left[0] ?? gate.item('A');
  return { before, output, item, done };
}

function stateSeconds(item: QueueItem, now: Nanoseconds): { readonly [state: string]: number } {
  const { totals } = explainItem(item, now);
  return Object.fromEntries(totals.map(({ state, duration }) => [state, Number(duration) / 1e9]));
}

describe('a result that lay unread', () => {
  it('is no time of the job: not in explanations, spans, history, metrics nor in what jobs usually take', () => {
    const { before, output, item, done } = story();
    const now = item.timeline.at(-1)!.since;
    expect(stateSeconds(item, now)).toMatchObject({ running: 5, scheduler: 36 });
    const explained = explainItem(item, now);
    expect(explained.buildTime).toBe('5000000000');
    expect(explained.criticalPath.slice(-2).map(({ text, duration }) => [text, duration])).toEqual([
      ['unit ran', '5000000000'],
      ['waited for the scheduler', '36000000000'],
    ]);
    expect(itemSpans(item).find(span => span.name === 'Build unit')?.end).toBe(done);
    expect(itemSpans(item).find(span => span.name === 'Wait scheduler')?.start).toBe(done);
    expect(rowsOfItem(item)[0]?.builds[0]?.end_time).toBe(done);
    expect(rowsOfItem(item)[0]?.buildset.last_build_end_time).toBe(done);
    const [learned] = seenSuccesses(before, withChanged(before, output));
    expect(learned?.ms).toBe(5000);
    const measured = itemMeasurements(before.items.get(item.uuid), item);
    const duration = measured.find(({ metric }) => metric === 'gatehouse_build_duration_seconds');
    expect(duration?.value).toBe(5);
  });

  it('is not part of a build either that was cancelled before it was read', () => {
    const { item, done } = story(world => {
      world.get('A').status = 'abandoned';
      return [{ kind: 'change-updated', uuid: world.uuid(), change: world.proposed('A').key }];
    });
    expect(item.phase).toMatchObject({ phase: 'left', result: 'DEQUEUED' });
    const [build] = item.buildset.builds;
    expect(build?.state).toMatchObject({ state: 'cancelled', workedUntil: done });
    const left = item.phase.phase === 'left' ? item.phase.at : item.enqueuedAt;
    expect(stateSeconds(item, left)).toMatchObject({ running: 5, scheduler: 36 });
  });

  it('says nothing of a cancelled build whose start lay unread with it: the build waited for an executor all the time', () => {
    const { item } = story(world => {
      world.get('A').status = 'abandoned';
      return [{ kind: 'change-updated', uuid: world.uuid(), change: world.proposed('A').key }];
    }, 'unread');
    expect(item.phase).toMatchObject({ phase: 'left', result: 'DEQUEUED' });
    const [build] = item.buildset.builds;
    expect(build?.state).toMatchObject({ state: 'cancelled', startedAt: null });
    expect(build?.state).not.toHaveProperty('workedUntil');
    const left = item.phase.phase === 'left' ? item.phase.at : item.enqueuedAt;
    const { criticalPath, totals } = explainItem(item, left);
    const account = accountOf(itemSpans(item).map(asArrived));
    expect(largestDifference(totals, account.totals)).toBeLessThanOrEqual(1_000_000n);
    expect(disagreement(piecesOf(criticalPath), account.path)).toBeLessThanOrEqual(1_000_000n);
  });
});
