/** Random histories of changes that may depend on each other: they land together or not at all. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stronglyConnected } from '../../src/lib/tarjan.ts';
import type { BuildResult } from '../../src/model/results.ts';
import { Chaos, honestNature, type Nature, type Step, stepArbitrary } from '../unit/pipeline/chaos.ts';
import { withTroubledHosts } from '../unit/pipeline/troubled-hosts.ts';
import { job, type PipelineSetup, type PipelineWorld, World } from '../unit/pipeline/world.ts';

/** `PROPERTY_RUNS=20` plays twenty times as many histories. */
const more = Number(process.env.PROPERTY_RUNS ?? '1');
const patience = 30_000 * more;

interface Setting {
  readonly window: number;
  /** Per change: its project, and the others it needs; those are of any age, so that cycles are usual. */
  readonly changes: readonly {
    readonly lib: boolean;
    readonly needs: readonly number[];
    readonly bad: boolean;
  }[];
}

const settingArbitrary: fc.Arbitrary<Setting> = fc.record({
  window: fc.constantFrom(0, 1, 2, 20),
  changes: fc.array(
    fc.record({
      lib: fc.boolean(),
      needs: fc.uniqueArray(fc.nat({ max: 5 }), { maxLength: 2 }),
      bad: fc.nat({ max: 4 }).map(n => n === 0),
    }),
    { minLength: 2, maxLength: 6 },
  ),
});

const steps = (length: number): fc.Arbitrary<Step[]> =>
  fc.array(stepArbitrary, { maxLength: length, size: 'max' });

function name(index: number): string {
  return String.fromCharCode(65 + index);
}

function build(
  setting: Setting,
  setup: PipelineSetup,
): { readonly world: World; readonly pipeline: PipelineWorld } {
  const world = new World();
  world.allowsCycles = true;
  for (const project of ['app', 'lib']) {
    world.jobs(project, [job('unit', { attempts: 2 })]);
    world.queue(project, 'integrated');
  }
  const pipeline = world.pipeline('pipeline', {
    ...setup,
    speaks: ['start', 'success', 'failure', 'merge-conflict', 'config-error', 'dequeue'],
    window: { initial: setting.window, floor: 1 },
  });
  setting.changes.forEach(({ lib, needs }, index) => {
    const others = needs.filter(other => other !== index && other < setting.changes.length);
    world.change(name(index), { project: lib ? 'lib' : 'app', dependsOn: others.map(name) });
  });
  return { world, pipeline };
}

/** What may merge, worked out from the changes alone: all that need, over any number of steps, good ones only. */
function mayMerge(setting: Setting, world: World): string[] {
  const good = new Set(setting.changes.flatMap(({ bad }, index) => (bad ? [] : [name(index)])));
  for (let before = -1; before !== good.size; ) {
    before = good.size;
    for (const each of good)
      if (!world.get(each).dependsOn.every(needed => good.has(needed))) good.delete(each);
  }
  return [...good].sort();
}

function cyclesOf(world: World): readonly (readonly string[])[] {
  return stronglyConnected([...world.changes.keys()], each => world.get(each).dependsOn);
}

const RESULTS: readonly BuildResult[] = ['SUCCESS', 'SUCCESS', 'SUCCESS', 'FAILURE', 'RETRY', 'TIMED_OUT'];

function wildNature(pipeline: PipelineWorld): Nature {
  return {
    meddling: true,
    result: (_build, luck) => (luck > 100 ? 'SUCCESS' : (RESULTS[luck % RESULTS.length] ?? 'SUCCESS')),
    merge: (merge, luck) =>
      luck < 30
        ? pipeline.mergeOutcome(merge, {
            old: luck % 3 === 0,
            conflicting: (one, other) => (one.charCodeAt(0) * 7 + other.charCodeAt(0) * 3 + luck) % 4 === 0,
          })
        : pipeline.mergeOutcome(merge),
    report: luck => {
      if (luck < 8) return { kind: 'not-merged', text: 'refused' };
      return luck < 14 ? { kind: 'base-moved', text: 'raced' } : undefined;
    },
  };
}

describe('a dependent pipeline that allows cycles', () => {
  it(
    'merges exactly the good changes that need only good ones, each with those it depends on and that depend on it',
    () => {
      fc.assert(
        fc.property(settingArbitrary, steps(60), (setting, played) => {
          const { world, pipeline } = build(setting, { manager: 'dependent', together: true });
          const bad = new Set(setting.changes.flatMap((change, index) => (change.bad ? [name(index)] : [])));
          const chaos = new Chaos(pipeline, honestNature(pipeline, bad));
          chaos.play(played);
          chaos.drain();
          for (const entry of world.changes.keys())
            if (world.get(entry).status === 'open') pipeline.enqueue(entry);
          chaos.drain();
          expect(chaos.check()).toEqual([]);
          expect([...world.landed].sort()).toEqual(mayMerge(setting, world));
          for (const cycle of cyclesOf(world)) {
            const [first = -1, ...rest] = cycle.map(each => world.landed.indexOf(each)).sort((a, b) => a - b);
            if (first >= 0) expect(rest).toEqual(rest.map((_, place) => first + place + 1));
          }
        }),
        { numRuns: 150 * more },
      );
    },
    patience,
  );

  it.each(['kind hosts', 'troubled hosts'])(
    'keeps every invariant and always drains, with %s',
    hosts => {
      fc.assert(
        fc.property(settingArbitrary, steps(120), (setting, played) => {
          const { world, pipeline } = build(setting, { manager: 'dependent' });
          const nature = wildNature(pipeline);
          const chaos = new Chaos(
            pipeline,
            hosts === 'kind hosts' ? nature : withTroubledHosts(pipeline, nature),
          );
          chaos.play(played);
          chaos.drain();
          expect(chaos.check()).toEqual([]);
          expect(new Set(world.landed).size).toBe(world.landed.length);
        }),
        { numRuns: 150 * more },
      );
    },
    patience,
  );
});

it(
  'an independent pipeline that allows cycles keeps every invariant and always drains',
  () => {
    fc.assert(
      fc.property(settingArbitrary, steps(120), (setting, played) => {
        const { world, pipeline } = build(setting, { manager: 'independent' });
        const chaos = new Chaos(pipeline, wildNature(pipeline));
        chaos.play(played);
        chaos.drain();
        expect(chaos.check()).toEqual([]);
        expect(world.landed).toEqual([]);
        expect(pipeline.state.queues).toEqual([]);
      }),
      { numRuns: 100 * more },
    );
  },
  patience,
);
