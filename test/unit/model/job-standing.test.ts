/** What a job waits for is read from the record by the very function the turn decided with. */
import { describe, expect, test } from 'vitest';
import { resultOf } from '../../../src/model/build.ts';
import type { StartHold } from '../../../src/model/build-set.ts';
import { currentBuilds, jobStanding, jobStandings, waitText } from '../../../src/model/job-standing.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import type { BuildResult } from '../../../src/model/results.ts';
import { job, type PipelineWorld, World } from '../pipeline/world.ts';

const merge = job('merge');
const unit = job('unit', { dependencies: [{ name: 'merge', soft: false }] });

function gateOf(): PipelineWorld {
  const world = new World();
  const gate = world.pipeline('gate', { manager: 'dependent', window: { initial: 3 } });
  world.jobs('app', [merge, unit]);
  for (const name of ['A', 'B', 'C', 'D'])
    world.change(name, { project: 'app', dependsOn: name === 'C' ? ['B'] : [] });
  gate.enqueue('A', 'B', 'C', 'D');
  gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
  return gate;
}

function waits({ buildset }: QueueItem) {
  return Object.fromEntries([...jobStandings(buildset)].map(([name, each]) => [name, waitText(each)]));
}

describe('a job', () => {
  test('waits for exactly one thing', () => {
    const builds = currentBuilds(gateOf().item('A').buildset);
    expect(jobStanding(unit, builds, undefined, undefined)).toEqual({
      kind: 'waits',
      for: { on: 'dependencies', jobs: ['merge'] },
    });
    expect(jobStanding(merge, new Map(), undefined, { on: 'window' })).toEqual({
      kind: 'waits',
      for: { on: 'window' },
    });
    expect(jobStanding(merge, new Map(), undefined, undefined)).toEqual({ kind: 'startable', attempt: 1 });
    expect(jobStanding(merge, builds, undefined, undefined)).toMatchObject({ kind: 'open' });
  });

  test.each<readonly [StartHold, string]>([
    [{ on: 'window' }, 'window'],
    [{ on: 'hold-following', item: 'app A,1' }, 'hold-following: app A,1'],
    [{ on: 'host', project: 'git/app' as never }, 'code host: git/app'],
  ])('held by %j says so as Zuul does', (hold, text) => {
    expect(waitText(jobStanding(merge, new Map(), undefined, hold))).toBe(text);
  });

  test('waits for its executor once it was asked for, and for its parents until they succeeded', () => {
    const gate = gateOf();
    expect(waits(gate.item('A'))).toEqual({ merge: 'executor', unit: 'dependencies: merge' });
    gate.turn([gate.startEvent(buildOf(gate, 'A', 'merge'))]);
    expect(waits(gate.item('A'))).toEqual({ merge: null, unit: 'dependencies: merge' });
    gate.turn([gate.resultEvent(buildOf(gate, 'A', 'merge'), 'SUCCESS')]);
    expect(waits(gate.item('A'))).toEqual({ merge: null, unit: 'executor' });
  });

  test('waits in the record for what held it in the turn, and no longer once that is gone', () => {
    const world = new World();
    const gate = world.pipeline('gate', { manager: 'dependent' });
    world.jobs('app', [job('image', { holdFollowingChanges: true }), job('unit')]);
    for (const name of ['A', 'B']) world.change(name, { project: 'app' });
    gate.enqueue('A', 'B');
    gate.turn(gate.merges.map(each => gate.mergeEvent(each)));
    expect(waits(gate.item('B'))).toEqual({
      image: 'hold-following: app A,1',
      unit: 'hold-following: app A,1',
    });
    gate.turn([gate.resultEvent(buildOf(gate, 'A', 'image'), 'SUCCESS')]);
    expect(gate.item('B').buildset.startHold).toBeUndefined();
    expect(waits(gate.item('B'))).toEqual({ image: 'executor', unit: 'executor' });
  });

  test.each<[string, { readonly [job: string]: BuildResult }, readonly string[] | undefined, string]>([
    ['failed', { image: 'SUCCESS', unit: 'FAILURE' }, undefined, 'docs SKIPPED, site SKIPPED, feed SKIPPED'],
    ['was left out', { image: 'SUCCESS' }, [], 'unit SKIPPED, docs SKIPPED, site requested'],
  ])(
    'is skipped with all below it, soft or not, where one %s only with those that cannot do without',
    (_how, results, childJobs, expected) => {
      const soft = (name: string) => ({ dependencies: [{ name, soft: true }] });
      const hard = (name: string) => ({ dependencies: [{ name, soft: false }] });
      const world = new World();
      const gate = world.pipeline('gate', { manager: 'dependent' });
      const jobs = [
        job('image'),
        job('unit', hard('image')),
        job('docs', hard('unit')),
        job('site', soft('docs')),
      ];
      world.jobs('app', [...jobs, job('feed', soft('site'))]);
      world.change('A', { project: 'app' });
      gate.enqueue('A');
      gate.turn(gate.merges.map(each => gate.mergeEvent(each)));
      for (const [name, result] of Object.entries(results)) {
        const event = gate.resultEvent(buildOf(gate, 'A', name), result);
        if (event.kind !== 'build-result') expect.unreachable();
        gate.turn([childJobs === undefined ? event : { ...event, returned: { childJobs } }]);
      }
      const { builds } = gate.item('A').buildset;
      const words = builds.map(each => `${each.job} ${resultOf(each) ?? each.state.state}`);
      expect(words.slice(Object.keys(results).length).join(', ')).toBe(expected);
    },
  );

  test('waits for nothing in a buildset that has ended', () => {
    const gate = gateOf();
    gate.turn([gate.resultEvent(buildOf(gate, 'A', 'merge'), 'FAILURE')]);
    expect(waits(gate.item('A'))).toEqual({});
  });
});

function buildOf(gate: PipelineWorld, item: string, name: string) {
  const found = gate.builds.find(each => each.item.uuid === gate.item(item).uuid && each.job === name);
  if (found === undefined) throw new Error(`${item} has no build of ${name}`);
  return found;
}
