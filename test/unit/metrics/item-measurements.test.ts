import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { explainItem } from '../../../src/explain/explain.ts';
import { itemMeasurements } from '../../../src/metrics/item-measurements.ts';
import type { Measurement } from '../../../src/metrics/measurement.ts';
import type { MetricName } from '../../../src/metrics/metric-table.ts';
import { isOpen } from '../../../src/model/build.ts';
import type { BuildSet } from '../../../src/model/build-set.ts';
import { lostBuildSeconds } from '../../../src/model/lost-time.ts';
import { buildsetsOf, endOfItem, type QueueItem } from '../../../src/model/queue-item.ts';
import { randomStory, resetAndMergedStory } from '../../fake/item-stories.ts';
import { itemStory } from '../../fake/queue-item.ts';

function fold(versions: readonly QueueItem[]): readonly Measurement[] {
  return versions.flatMap((after, index) => itemMeasurements(versions[index - 1], after));
}

function of(measurements: readonly Measurement[], metric: MetricName): readonly Measurement[] {
  return measurements.filter(measurement => measurement.metric === metric);
}

function total(measurements: readonly Measurement[], metric: MetricName): number {
  return of(measurements, metric).reduce((sum, { value }) => sum + value, 0);
}

/** Some of the versions in between were never seen: several steps were one commit. */
function withoutSome(versions: readonly QueueItem[], mask: number): readonly QueueItem[] {
  return versions.filter((_, index) => index === versions.length - 1 || ((mask >> (index % 31)) & 1) === 0);
}

function inSeconds(nanoseconds: string): number {
  return Number(nanoseconds) / 1e9;
}

/** Each value is cut to microseconds. */
const CUT = 0.0005;

describe('measurements of an item', () => {
  const life = fc.array(fc.nat(1000), { minLength: 1, maxLength: 40 });

  it('count every build, merge, reset, arrival and departure once over any life and whichever versions were seen', () => {
    fc.assert(
      fc.property(life, fc.integer(), (choices, mask) => {
        const versions = withoutSome(randomStory(choices).versions, mask);
        const item = versions.at(-1)!;
        const all = fold(versions);
        const sets = buildsetsOf(item);
        const builds = sets.flatMap(({ builds }) => builds).filter(build => !isOpen(build));
        const merges = sets.flatMap(({ mergerWork }) => mergerWork).filter(({ done }) => done !== null);
        expect(total(all, 'gatehouse_builds')).toBe(builds.length);
        expect(of(all, 'gatehouse_merge_seconds')).toHaveLength(merges.length);
        expect(total(all, 'gatehouse_resets')).toBe(item.earlier.length);
        expect(of(all, 'gatehouse_event_latency_seconds')).toHaveLength(1);
        expect(of(all, 'gatehouse_item_duration_seconds')).toHaveLength(1);
      }),
      { numRuns: 150 },
    );
  });

  it('say what the explanation of the item says: waits, states, lost time, times of builds', () => {
    fc.assert(
      fc.property(life, fc.integer(), (choices, mask) => {
        const versions = withoutSome(randomStory(choices).versions, mask);
        const item = versions.at(-1)!;
        const all = fold(versions);
        const explanation = explainItem(item, endOfItem(item)!);
        const waits = new Map(
          of(all, 'gatehouse_wait_seconds').map(({ labels, value }) => [labels.state, value]),
        );
        const explained = explanation.totals.filter(({ kind }) => kind === 'wait');
        expect([...waits.keys()].sort()).toEqual(explained.map(({ state }) => state).sort());
        for (const { state, duration } of explained)
          expect(Math.abs((waits.get(state) ?? 0) - inSeconds(duration))).toBeLessThan(CUT);
        const near = (metric: MetricName, expected: number) =>
          expect(Math.abs(total(all, metric) - expected), metric).toBeLessThan(CUT);
        near('cicd_pipeline_run_duration_seconds', inSeconds(explanation.duration));
        near('gatehouse_item_duration_seconds', inSeconds(explanation.duration));
        near('gatehouse_build_duration_seconds', inSeconds(explanation.buildTime));
        expect(Math.abs(total(all, 'gatehouse_lost_build_seconds') - lostBuildSeconds(item))).toBeLessThan(
          0.002,
        );
      }),
      { numRuns: 150 },
    );
  });

  it('are the same when every version was read from the store anew', () => {
    fc.assert(
      fc.property(life, choices => {
        const { versions } = randomStory(choices);
        expect(fold(versions.map(version => structuredClone(version)))).toEqual(fold(versions));
      }),
      { numRuns: 100 },
    );
  });

  it('of a build that is kept over a reset come once, and nothing of it is lost', () => {
    const story = itemStory().merge().wait(4).merged().freeze(['unit']).wait(10).start('unit').wait(1000);
    const running = story.item;
    const [build] = running.buildset.builds;
    const reset = story.finish('unit', 'SUCCESS').complete('SUCCESS').reset().item;
    // The next buildset takes over the build that was complete.
    const kept: QueueItem = { ...reset, buildset: { ...reset.buildset, builds: reset.earlier[0]!.builds } };
    const all = fold([running, kept, { ...kept, startReported: true }]);
    expect(build?.state.state).toBe('started');
    expect(total(all, 'gatehouse_builds')).toBe(1);
    expect(total(all, 'gatehouse_resets')).toBe(1);
    expect(total(all, 'gatehouse_lost_build_seconds')).toBe(0);
  });

  it('of a buildset that was superseded first and replaced later count one reset', () => {
    const story = itemStory().merge().wait(4).merged().freeze(['unit']).wait(10).start('unit').wait(1000);
    const before = story.item;
    const replaced = story.reset('needed-change-failing').item;
    const superseded: QueueItem = { ...replaced, earlier: [], buildset: replaced.earlier[0] as BuildSet };
    const resets = of(fold([before, superseded, replaced]), 'gatehouse_resets');
    expect(resets.map(({ labels }) => labels.cause)).toEqual(['needed-change-failing']);
    expect(total(itemMeasurements(before, superseded), 'gatehouse_lost_build_seconds')).toBeCloseTo(1, 3);
  });

  it('name the culprit job of what a reset cost', () => {
    const all = fold(resetAndMergedStory().versions);
    const [lost] = of(all, 'gatehouse_lost_build_seconds');
    expect(lost).toMatchObject({ labels: { tenant: 'acme', pipeline: 'gate', job: 'unit-tests' } });
    expect(lost!.value).toBeGreaterThan(37);
  });

  it('lead to the trace only when there will be one', () => {
    const story = resetAndMergedStory({ sampled: false });
    expect(fold(story.versions).filter(({ trace }) => trace !== undefined)).toEqual([]);
    const versions = story.versions.map(version => ({ ...version, heldBack: true as const }));
    const kept = [...versions.slice(0, -1), { ...versions.at(-1)!, kept: true as const }];
    const traced = fold(kept).filter(({ trace }) => trace !== undefined);
    expect(new Set(traced.map(({ metric }) => metric))).toContain('gatehouse_item_duration_seconds');
    expect(of(traced, 'gatehouse_build_duration_seconds')).toEqual([]);
  });

  it('of an item that only holds a place count neither its coming nor its going', () => {
    const versions = itemStory()
      .wait(10)
      .leave('no-longer-needed')
      .versions.map(version => ({ ...version, role: 'dependency' as const }));
    expect(fold(versions)).toEqual([]);
  });
});
