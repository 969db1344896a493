/**
 * Many conflicts in one queue, and every order in which mergers may answer: each item ends with the verdict of a merge one by one, and
 * conflicts alone neither reset anything nor cost a second request.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PipelineState } from '../../src/model/pipeline-state.ts';
import { failureOf } from '../../src/pipeline/standing.ts';
import { violationsOf } from '../invariants/history-checker.ts';
import { honestNature, type Nature } from '../unit/pipeline/chaos.ts';
import { job, nameOf, type PipelineWorld, World } from '../unit/pipeline/world.ts';
import { addChanges, badOnes, more, name, patience, type RandomChange } from './histories.ts';

interface Setting {
  readonly changes: readonly RandomChange[];
  /** Pairs of places. */
  readonly conflicts: readonly (readonly [number, number])[];
  /** What is answered next, and how much of it in one turn. */
  readonly order: readonly {
    readonly pick: number;
    readonly together: number;
    /** By a merger of 0.3. */
    readonly old: boolean;
    /** What the merger takes for the tip of the branch; 0: what it is. With another one, other changes conflict. */
    readonly tip: number;
  }[];
}

const places = fc.nat({ max: 8 });

function settingArbitrary(only: {
  readonly bad?: true;
  readonly old?: true;
  readonly tips?: true;
}): fc.Arbitrary<Setting> {
  return fc.record({
    changes: fc.array(
      fc.record({
        lib: fc.boolean(),
        bad: only.bad === true ? fc.nat({ max: 4 }).map(n => n === 0) : fc.constant(false),
        needs: only.bad === true ? fc.uniqueArray(places, { maxLength: 1 }) : fc.constant([]),
      }),
      { minLength: 3, maxLength: 9, size: 'max' },
    ),
    conflicts: fc.array(fc.tuple(places, places), { maxLength: 14, size: 'max' }),
    order: fc.array(
      fc.record({
        pick: fc.nat({ max: 1000 }),
        together: fc.integer({ min: 1, max: 4 }),
        old: only.old === true ? fc.boolean() : fc.constant(false),
        tip: only.tips === true ? fc.nat({ max: 4 }) : fc.constant(0),
      }),
      { minLength: 20, maxLength: 60, size: 'max' },
    ),
  });
}

function build({ changes, conflicts }: Setting): { world: World; pipeline: PipelineWorld } {
  const world = new World();
  for (const project of ['app', 'lib']) {
    world.jobs(project, [job('unit')]);
    world.queue(project, 'integrated');
  }
  addChanges(world, { changes }, (needed, place) => needed < place);
  for (const [one, other] of conflicts) if (one !== other) world.conflict(name(one), name(other));
  const pipeline = world.pipeline('gate', { manager: 'dependent' });
  pipeline.enqueue(...world.changes.keys());
  return { world, pipeline };
}

/** What a gate that takes one change of the queue after the other would land. */
function landedOneByOne(setting: Setting, { world, state }: PipelineWorld): readonly string[] {
  const bad = badOnes(setting);
  const landed: string[] = [];
  for (const uuid of state.queues.flatMap(queue => queue.items)) {
    const item = state.items.get(uuid);
    if (item === undefined) continue;
    const own = nameOf(item);
    const merges = landed.every(other => !world.conflicting(other, own));
    const hasAll = world.get(own).dependsOn.every(needed => landed.includes(needed));
    if (!bad.has(own) && merges && hasAll) landed.push(own);
  }
  return landed;
}

class Play {
  readonly pipeline: PipelineWorld;
  readonly #nature: Nature;
  readonly #order: Setting['order'];
  /** Per item: turns in which something ahead of it began to fail, or left without landing. */
  readonly troubles = new Map<string, number>();
  #step = 0;

  constructor(setting: Setting, pipeline: PipelineWorld) {
    this.pipeline = pipeline;
    this.#order = setting.order;
    this.#nature = honestNature(pipeline, badOnes(setting));
  }

  /** Answers what is open in the setting's order until nothing is. */
  until(reports: boolean): void {
    const { pipeline } = this;
    for (let turn = 0; turn < 500; turn += 1) {
      const { pick, together, old, tip } = this.#order[this.#step % this.#order.length] ?? fail();
      const isEarly = this.#step < this.#order.length;
      this.#step += 1;
      const open = [
        ...pipeline.merges.map(merge => () => {
          const honest = this.#nature.merge(merge, 0);
          if (!old && (tip === 0 || !isEarly)) return pipeline.mergeEvent(merge, honest);
          const conflicting = (one: string, other: string) =>
            pipeline.world.conflicting(one, other) || (isEarly && conflictsAt(tip, one, other));
          return pipeline.mergeEvent(merge, pipeline.mergeOutcome(merge, { old, conflicting }));
        }),
        ...pipeline.builds.map(build => () => pipeline.resultEvent(build, this.#nature.result(build, 0))),
        ...(reports ? pipeline.reports.map(report => () => pipeline.reportEvent(report)) : []),
      ];
      if (open.length === 0) return;
      const at = pick % open.length;
      this.#turn([...open.slice(at), ...open.slice(0, at)].slice(0, together).map(answer => answer()));
    }
    throw new Error('still asking after 500 turns');
  }

  #turn(events: Parameters<PipelineWorld['turn']>[0]): void {
    const before = this.pipeline.state;
    this.pipeline.turn(events);
    const after = this.pipeline.state;
    for (const queue of before.queues) {
      let trouble = false;
      for (const uuid of queue.items) {
        if (trouble) this.troubles.set(uuid, (this.troubles.get(uuid) ?? 0) + 1);
        trouble ||= isNewTrouble(before, after, uuid);
      }
    }
  }
}

function conflictsAt(tip: number, one: string, other: string): boolean {
  return tip !== 0 && (one.charCodeAt(0) * other.charCodeAt(0)) % (tip + 4) === 0;
}

function isNewTrouble(before: PipelineState, after: PipelineState, uuid: string): boolean {
  const [old, now] = [before.items.get(uuid as never), after.items.get(uuid as never)];
  if (old === undefined) return false;
  if (now === undefined) return old.phase.phase === 'queued';
  return failureOf(old) === null && (failureOf(now) !== null || now.buildset.stage.state === 'superseded');
}

function fail(): never {
  throw new Error('an empty order');
}

describe('conflicts in a dependent pipeline', () => {
  it(
    "reset nothing and cost one request an item, in any order of the mergers' answers",
    () => {
      fc.assert(
        fc.property(settingArbitrary({}), setting => {
          const { world, pipeline } = build(setting);
          const expected = landedOneByOne(setting, pipeline);
          const play = new Play(setting, pipeline);
          play.until(false);
          const asked = pipeline.history.flatMap(({ output }) =>
            output.commands.filter(command => command.kind === 'request-merge'),
          );
          expect(asked.length).toBe(setting.changes.length);
          const merged = pipeline.items().filter(item => failureOf(item) === null);
          expect(merged.map(nameOf)).toEqual(expected);
          play.until(true);
          expect(world.landed).toEqual(expected);
          expect(pipeline.left.filter(item => item.earlier.length > 0).map(nameOf)).toEqual([]);
          expect(violationsOf(pipeline.history)).toEqual([]);
        }),
        { numRuns: 300 * more },
      );
    },
    patience,
  );

  it(
    'and failures reset an item once for each turn that found some ahead of it',
    () => {
      fc.assert(
        fc.property(settingArbitrary({ bad: true }), setting => {
          const { world, pipeline } = build(setting);
          const expected = landedOneByOne(setting, pipeline);
          const play = new Play(setting, pipeline);
          play.until(true);
          expect(world.landed).toEqual(expected);
          for (const item of pipeline.left)
            expect(item.earlier.length, nameOf(item)).toBeLessThanOrEqual(play.troubles.get(item.uuid) ?? 0);
          expect(violationsOf(pipeline.history)).toEqual([]);
        }),
        { numRuns: 300 * more },
      );
    },
    patience,
  );

  it(
    'end the same with mergers of 0.3 among the others',
    () => {
      fc.assert(
        fc.property(settingArbitrary({ bad: true, old: true }), setting => {
          const { world, pipeline } = build(setting);
          const expected = landedOneByOne(setting, pipeline);
          new Play(setting, pipeline).until(true);
          expect(world.landed).toEqual(expected);
          expect(violationsOf(pipeline.history)).toEqual([]);
        }),
        { numRuns: 300 * more },
      );
    },
    patience,
  );

  it(
    'never let an item be tested with others than those it stands behind, for any tips that mergers see',
    () => {
      fc.assert(
        fc.property(settingArbitrary({ bad: true, old: true, tips: true }), setting => {
          const { pipeline } = build(setting);
          new Play(setting, pipeline).until(true);
          expect(pipeline.state.items.size).toBe(0);
          expect(violationsOf(pipeline.history)).toEqual([]);
        }),
        { numRuns: 500 * more },
      );
    },
    patience,
  );
});
