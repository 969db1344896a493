/** An executor is killed after five seconds of a job and missed 36 seconds later: the job ran for five. */
import { describe, expect, it } from 'vitest';
import { explainItem } from '../../../src/explain/explain.ts';
import { rowsOfItem } from '../../../src/history/item-rows.ts';
import { addMilliseconds } from '../../../src/lib/clock.ts';
import { itemMeasurements } from '../../../src/metrics/item-measurements.ts';
import { itemSpans } from '../../../src/tracing/spans/item-spans.ts';
import { job, type PendingBuild, World } from '../pipeline/world.ts';

const SECOND = 1000;

function tested() {
  const world = new World();
  world.jobs('app', [job('unit')]);
  world.change('A', { project: 'app' });
  const gate = world.pipeline('gate', { manager: 'dependent' });
  gate.enqueue('A');
  gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
  const build = only(gate.builds);
  const taken = world.now;
  gate.turn([gate.startEvent(build)]);
  return { world, gate, build, taken };
}

function only(builds: readonly PendingBuild[]): PendingBuild {
  const [build] = builds;
  if (build === undefined) throw new Error('no build was asked for');
  return build;
}

/** Killed five seconds after it took the build. */
function lost() {
  const { world, gate, build, taken } = tested();
  const killed = addMilliseconds(taken, 5 * SECOND);
  while (BigInt(world.now) < BigInt(addMilliseconds(taken, 40 * SECOND))) world.tick();
  const before = gate.item('A');
  gate.turn([gate.lostEvent(build, killed)]);
  return { gate, before, item: gate.item('A'), killed, missed: world.now };
}

describe('a build whose executor vanished', () => {
  it('ran until the executor was last heard of: in explanations, spans, history and metrics', () => {
    const { before, item, killed, missed } = lost();
    const explained = explainItem(item, missed);
    const states = Object.fromEntries(
      explained.totals.map(({ state, duration }) => [state, Number(duration) / 1e9]),
    );
    expect(states).toMatchObject({ running: 5, 'executor-lost': 36 });
    expect(explained.buildTime).toBe('5000000000');
    expect(explained.criticalPath.slice(-2).map(({ text, duration }) => [text, duration])).toEqual([
      ['unit ran', '5000000000'],
      ['waited until the loss of its executor was noticed', '36000000000'],
    ]);
    expect(itemSpans(item).find(span => span.name === 'Build unit')?.end).toBe(killed);
    const wait = itemSpans(item).find(span => span.name === 'Wait executor-lost');
    expect([wait?.start, wait?.end]).toEqual([killed, missed]);
    expect(wait?.attributes['gatehouse.wait.subject']).toBe('running');
    expect(rowsOfItem(item)[0]?.builds[0]?.end_time).toBe(killed);
    const measured = itemMeasurements(before, item);
    const duration = measured.find(({ metric }) => metric === 'gatehouse_build_duration_seconds');
    expect(duration?.value).toBe(5);
  });

  it('is tried again from when it was missed', () => {
    const { gate, killed, missed } = lost();
    const again = only(gate.builds);
    gate.turn([gate.startEvent(again)]);
    gate.turn([gate.resultEvent(again, 'SUCCESS')]);
    gate.turn(gate.reports.map(report => gate.reportEvent(report)));
    const [item] = gate.left;
    if (item?.phase.phase !== 'left') throw new Error('it has not left');
    const path = explainItem(item, item.phase.at).criticalPath;
    expect(path.find(({ state }) => state === 'executor-lost')).toMatchObject({ from: killed, to: missed });
  });

  it('had failed by the word of its executor until then at least', () => {
    const { world, gate, build, taken } = tested();
    const failed = world.now;
    gate.turn([gate.failingEvent(build)]);
    world.pass(30 * SECOND);
    gate.turn([gate.lostEvent(build, taken)]);
    const [ended] = gate.item('A').buildset.builds;
    expect(ended?.state).toMatchObject({ result: 'FAILURE', workedUntil: failed });
  });

  it('cannot have ended before it began, nor after it was missed, at any error of its clock', () => {
    for (const [sign, end] of [
      [-3600, 'begun'],
      [3600, 'missed'],
    ] as const) {
      const { world, gate, build, taken: begun } = tested();
      gate.turn([gate.lostEvent(build, addMilliseconds(begun, sign * SECOND))]);
      const [ended] = gate.item('A').buildset.builds;
      expect(ended?.state).toMatchObject({ workedUntil: end === 'begun' ? begun : world.now });
    }
  });
});
