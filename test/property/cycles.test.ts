/** Random histories of changes that may depend on each other: they land together or not at all. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stronglyConnected } from '../../src/lib/tarjan.ts';
import type { BuildResult } from '../../src/model/results.ts';
import type { Nature } from '../unit/pipeline/chaos.ts';
import { withTroubledHosts } from '../unit/pipeline/troubled-hosts.ts';
import { job, type PipelineSetup, type PipelineWorld, World } from '../unit/pipeline/world.ts';
import { addChanges, more, patience, playHonestly, playOut, type RandomChange, steps } from './histories.ts';

interface Setting {
  readonly window: number;
  /** They need others of any age, so that cycles are usual. */
  readonly changes: readonly RandomChange[];
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
  addChanges(world, setting, (other, index) => other !== index && other < setting.changes.length);
  return { world, pipeline };
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
          playHonestly({ world, pipeline }, setting, played);
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
          playOut(pipeline, hosts === 'kind hosts' ? nature : withTroubledHosts(pipeline, nature), played);
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
        playOut(pipeline, wildNature(pipeline), played);
        expect(world.landed).toEqual([]);
        expect(pipeline.state.queues).toEqual([]);
      }),
      { numRuns: 100 * more },
    );
  },
  patience,
);
