import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MergerOutcome } from '../../src/model/merge.ts';
import type { BuildResult } from '../../src/model/results.ts';
import { honestNature, type Nature, type Step } from '../unit/pipeline/chaos.ts';
import { withTroubledHosts } from '../unit/pipeline/troubled-hosts.ts';
import { job, type PipelineSetup, type PipelineWorld, World } from '../unit/pipeline/world.ts';
import { addChanges, more, patience, playHonestly, playOut, type RandomChange, steps } from './histories.ts';

interface Setting {
  readonly shared: boolean;
  /** The host lands several at once. */
  readonly together?: boolean;
  readonly window: number;
  readonly holding: boolean;
  /** They need earlier ones only. */
  readonly changes: readonly RandomChange[];
}

const settingArbitrary: fc.Arbitrary<Setting> = fc.record({
  shared: fc.boolean(),
  together: fc.boolean(),
  window: fc.constantFrom(0, 1, 2, 3, 20),
  holding: fc.boolean(),
  changes: fc.array(
    fc.record({
      lib: fc.boolean(),
      needs: fc.uniqueArray(fc.nat({ max: 6 }), { maxLength: 2 }),
      bad: fc.nat({ max: 3 }).map(n => n === 0),
    }),
    { minLength: 2, maxLength: 7 },
  ),
});

/** Needs name earlier changes only, of the same queue. */
function build(
  setting: Setting,
  setup: PipelineSetup,
): { readonly world: World; readonly pipeline: PipelineWorld } {
  const world = new World();
  const jobs = setting.holding
    ? [
        job('merge', { holdFollowingChanges: true }),
        job('unit', { dependencies: [{ name: 'merge', soft: false }], attempts: 2 }),
      ]
    : [job('unit', { attempts: 2 }), job('lint', { voting: false, failFast: true })];
  for (const project of ['app', 'lib']) {
    world.jobs(project, jobs);
    if (setting.shared) world.queue(project, 'integrated');
  }
  const pipeline = world.pipeline('pipeline', {
    ...setup,
    ...(setting.together === true ? { together: true } : {}),
    speaks: ['start', 'success', 'failure', 'merge-conflict', 'config-error', 'dequeue'],
    ...(setup.manager === 'serial' || setup.manager === 'supercedent'
      ? {}
      : { window: { initial: setting.window, floor: 1 } }),
  });
  const { changes, shared } = setting;
  addChanges(
    world,
    setting,
    (other, index) => other < index && (shared || changes[other]?.lib === changes[index]?.lib),
  );
  return { world, pipeline };
}

const RESULTS: readonly BuildResult[] = [
  'SUCCESS',
  'SUCCESS',
  'SUCCESS',
  'FAILURE',
  'RETRY',
  'RETRY',
  'TIMED_OUT',
  'POST_FAILURE',
];

function wildNature(pipeline: PipelineWorld): Nature {
  const common = { steps: [], worker: 'merger-1' };
  return {
    meddling: true,
    result: (_build, luck) => (luck > 100 ? 'SUCCESS' : (RESULTS[luck % RESULTS.length] ?? 'SUCCESS')),
    merge: (merge, luck): MergerOutcome => {
      const [change] = merge.item.changes;
      if (luck < 8)
        return { kind: 'conflict', change: change.key, project: change.project, files: ['x'], ...common };
      if (luck < 16)
        return { kind: 'failed', text: 'no route to host', retryable: luck % 2 === 0, ...common };
      // Mergers see different tips, and some are of the release before.
      if (luck < 40)
        return pipeline.mergeOutcome(merge, {
          old: luck % 3 === 0,
          conflicting: (one, other) => (one.charCodeAt(0) * 7 + other.charCodeAt(0) * 3 + luck) % 4 === 0,
        });
      return pipeline.mergeOutcome(merge);
    },
    report: luck => {
      if (luck < 8) return { kind: 'not-merged', text: 'refused' };
      if (luck < 14) return { kind: 'base-moved', text: 'raced' };
      return luck < 18 ? { kind: 'failed', text: 'host is down' } : undefined;
    },
  };
}

describe('a dependent pipeline', () => {
  it(
    'merges exactly the good changes that need only good ones, in any order of answers',
    () => {
      fc.assert(
        fc.property(settingArbitrary, steps(60), (setting, played) => {
          const { world, pipeline } = build(setting, { manager: 'dependent' });
          playHonestly({ world, pipeline }, setting, played);
          for (const [index, landed] of world.landed.entries()) {
            for (const needed of world.get(landed).dependsOn)
              expect(world.landed.indexOf(needed)).toBeLessThan(index);
          }
        }),
        { numRuns: 150 * more },
      );
    },
    patience,
  );

  it(
    'keeps every invariant and always drains',
    () => {
      fc.assert(
        fc.property(settingArbitrary, steps(120), (setting, played) => {
          const { world, pipeline } = build(setting, { manager: 'dependent' });
          playOut(pipeline, wildNature(pipeline), played);
          expect(new Set(world.landed).size).toBe(world.landed.length);
        }),
        {
          numRuns: 200 * more,
          examples: [
            refusedOfLanding('conflicts with B'),
            refusedOfLanding('is made'),
            PUSHED_BETWEEN_MERGES,
          ],
        },
      );
    },
    patience,
  );
});

type Played = [setting: Setting, played: Step[]];

const acts = (...played: readonly (readonly [act: number, pick: number])[]): Step[] =>
  played.map(([act, pick]) => ({ act, pick, later: false }));

const appChanges = (...needs: readonly (readonly number[])[]): Setting['changes'] =>
  needs.map(each => ({ lib: false, needs: each, bad: true }));

/**
 * B and A land together, and the host refuses B while A is still under way: C, behind both, is judged anew when that is over.
 *
 * @param merge how the merge of C ends.
 */
const refusedOfLanding = (merge: 'conflicts with B' | 'is made'): Played => [
  { shared: false, together: true, window: 0, holding: false, changes: appChanges([], [], []) },
  [
    ...acts([0, 337], [22, 216], [0, 0], [45, 0], [22, 16], [45, 610]),
    { act: 45, pick: 0, later: true },
    ...acts([45, 0], [0, 671], [22, merge === 'is made' ? 40 : 21], [65, 0]),
  ],
];

/** The tip of app moves between the merges of C, of lib, and of A, of app, which C stands behind: C must not land with A. */
const PUSHED_BETWEEN_MERGES: Played = [
  {
    shared: true,
    together: true,
    window: 0,
    holding: false,
    changes: [false, true].map(lib => ({ lib, needs: [], bad: true })),
  },
  acts([0, 0], [0, 1], [22, 381], [92, 0]),
];

/** A asks its host again on behalf of all; then B is promoted, which leaves A outside the window: B asks. */
const PROMOTED_PAST_ASKER: Played = [
  { shared: false, window: 1, holding: false, changes: appChanges([], []) },
  acts([0, 0], [22, 918], [40, 0], [0, 1], [87, 1]),
];

/** D waits for its host, until D is found, in the answer for E, to conflict with A: F, which was reset, is not to wait for that host. */
const JUDGED_WHILE_WAITING: Played = [
  { shared: false, window: 0, holding: false, changes: appChanges([], [], [], [], [3], [], [3]) },
  [...acts([0, 0], [0, 227], [0, 663]), { act: 22, pick: 337, later: true }, ...acts([22, 317])],
];

/** As it was first found: one queue of two projects, and mergers that see other branches. */
const TWO_PROJECTS: Played = [
  {
    shared: true,
    window: 0,
    holding: false,
    changes: [
      { lib: false, needs: [], bad: true },
      { lib: false, needs: [], bad: true },
      { lib: true, needs: [], bad: true },
      { lib: false, needs: [2], bad: true },
      { lib: false, needs: [0], bad: true },
    ],
  },
  acts([0, 0], [22, 224], [0, 201], [22, 719], [0, 937], [22, 627]),
];

/** C conflicts with B, its dependency, and its report is refused: it stays in the queue with that verdict. */
const CONFLICT_NOT_REPORTED: Played = [
  {
    shared: false,
    window: 0,
    holding: false,
    changes: [
      { lib: false, needs: [], bad: true },
      { lib: true, needs: [], bad: true },
      { lib: true, needs: [1], bad: true },
      { lib: false, needs: [], bad: true },
      { lib: false, needs: [], bad: true },
    ],
  },
  acts([0, 792], [22, 925], [65, 518]),
];

describe('a dependent pipeline whose hosts are in trouble', () => {
  it(
    'merges exactly the good changes that need only good ones',
    () => {
      let waited = 0;
      fc.assert(
        fc.property(settingArbitrary, steps(80), (setting, played) => {
          const built = build(setting, { manager: 'dependent' });
          playHonestly(built, setting, played, honest => withTroubledHosts(built.pipeline, honest));
          waited += waitsIn(built.pipeline);
        }),
        { numRuns: 100 * more },
      );
      expect(waited).toBeGreaterThan(0);
    },
    patience,
  );

  it(
    'keeps every invariant, always drains, and asks no host later than it could',
    () => {
      fc.assert(
        fc.property(settingArbitrary, steps(120), (setting, played) => {
          const { world, pipeline } = build(setting, { manager: 'dependent' });
          playOut(pipeline, withTroubledHosts(pipeline, wildNature(pipeline)), played);
          expect(new Set(world.landed).size).toBe(world.landed.length);
        }),
        {
          numRuns: 150 * more,
          examples: [PROMOTED_PAST_ASKER, JUDGED_WHILE_WAITING, TWO_PROJECTS],
        },
      );
    },
    patience,
  );
});

describe.each(['independent', 'serial'] as const)('the %s manager, with hosts in trouble', manager => {
  it(
    'keeps every invariant, always drains, and asks no host later than it could',
    () => {
      fc.assert(
        fc.property(settingArbitrary, steps(120), (setting, played) => {
          const { pipeline } = build(setting, { manager });
          playOut(pipeline, withTroubledHosts(pipeline, wildNature(pipeline)), played);
          expect(pipeline.state.queues).toEqual([]);
        }),
        { numRuns: 50 * more, examples: [CONFLICT_NOT_REPORTED] },
      );
    },
    patience,
  );
});

/** How often an item began to wait for its host. */
function waitsIn({ history }: PipelineWorld): number {
  const decisions = history.flatMap(({ output }) => output.decisions);
  return decisions.filter(({ code }) => code === 'waits-for-host').length;
}

describe('an independent pipeline', () => {
  it(
    'keeps every invariant and always drains',
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
});

describe.each(['serial', 'supercedent'] as const)('a %s pipeline', manager => {
  it(
    'keeps every invariant, tests nothing on top of anything, and always drains',
    () => {
      fc.assert(
        fc.property(settingArbitrary, steps(120), (setting, played) => {
          const { world, pipeline } = build(setting, { manager });
          playOut(pipeline, wildNature(pipeline), played);
          expect(world.landed).toEqual([]);
          expect(pipeline.state.queues).toEqual([]);
          expect(pipeline.left.every(item => typeof item.buildset.stackedOn !== 'string')).toBe(true);
        }),
        { numRuns: 100 * more },
      );
    },
    patience,
  );
});

it(
  'a serial pipeline reports every change, in the order they came in',
  () => {
    fc.assert(
      fc.property(settingArbitrary, steps(80), (setting, played) => {
        const { pipeline } = build(setting, { manager: 'serial' });
        playOut(pipeline, honestNature(pipeline, new Set()), played);
        const entered = pipeline.left.toSorted((a, b) =>
          BigInt(a.enqueuedAt) < BigInt(b.enqueuedAt) ? -1 : 1,
        );
        for (const [, left] of Map.groupBy(pipeline.left, item => item.queue))
          expect(left).toEqual(entered.filter(item => item.queue === left[0]?.queue));
        expect(
          pipeline.left.every(item => item.phase.phase === 'left' && item.phase.reason === 'reported'),
        ).toBe(true);
      }),
      { numRuns: 100 * more },
    );
  },
  patience,
);
