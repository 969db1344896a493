/** Semaphores of jobs, after Zuul's tests of semaphores: who may start, who waits, and who is next. */
import { describe, expect, test } from 'vitest';
import { explainItem } from '../../../src/explain/explain.ts';
import { jobStandings, waitText } from '../../../src/model/job-standing.ts';
import { freeSlot } from '../../../src/model/semaphore.ts';
import { violationsOf } from '../../invariants/history-checker.ts';
import { job, nameOf, type PipelineWorld, World } from './world.ts';

function worldOf(names: readonly string[], jobs = [job('unit', { semaphores: [{ name: 'db' }] })]): World {
  const world = new World();
  world.semaphores.set('db', { scope: 'tenant', max: 1 });
  world.semaphores.set('net', { scope: 'global', max: 1 });
  world.jobs('app', jobs);
  for (const name of names) world.change(name, { project: 'app' });
  return world;
}

/** The changes are merged, and their jobs started as far as they may. */
function begun(pipeline: PipelineWorld, ...names: readonly string[]): void {
  pipeline.enqueue(...names);
  pipeline.turn(pipeline.merges.map(merge => pipeline.mergeEvent(merge)));
}

function running(pipeline: PipelineWorld): readonly string[] {
  return pipeline.builds.map(({ item, job: name }) => `${nameOf(item)} ${name}`);
}

function buildOf(pipeline: PipelineWorld, change: string, name = 'unit') {
  const build = pipeline.builds.find(each => nameOf(each.item) === change && each.job === name);
  if (build === undefined) throw new Error(`${name} of ${change} does not run`);
  return build;
}

function end(pipeline: PipelineWorld, change: string, name = 'unit'): void {
  pipeline.turn([pipeline.resultEvent(buildOf(pipeline, change, name), 'SUCCESS')]);
}

function standing(pipeline: PipelineWorld, change: string): readonly (string | null)[] {
  return [...jobStandings(pipeline.item(change).buildset).values()].map(waitText);
}

function check(...pipelines: readonly PipelineWorld[]): void {
  for (const { history } of pipelines) expect(violationsOf(history)).toEqual([]);
}

test('the lowest free slot is taken, and none of a semaphore whose max is below the number of its holders', () => {
  expect(freeSlot(new Set(), 1)).toBe(0);
  expect(freeSlot(new Set([0, 4]), 3)).toBe(1);
  expect(freeSlot(new Set([3, 4]), 2)).toBeUndefined();
  expect(freeSlot(new Set([4]), 2)).toBe(0);
});

describe('a semaphore', () => {
  test('of one lets one job run at a time, in the order of the queue, and hands itself on in the turn that ends a build', () => {
    const world = worldOf(['A', 'B', 'C']);
    const verify = world.pipeline('check');
    begun(verify, 'A', 'B', 'C');
    expect(running(verify)).toEqual(['A unit']);
    expect(standing(verify, 'B')).toEqual(['semaphores: db']);
    expect(verify.item('B').timeline.at(-1)).toMatchObject({
      state: 'semaphore',
      subject: 'db, which unit of app A,1 holds',
      item: verify.item('A').uuid,
    });
    end(verify, 'A');
    expect(running(verify)).toEqual(['B unit']);
    expect(standing(verify, 'B')).toEqual(['executor']);
    end(verify, 'B');
    end(verify, 'C');
    expect(running(verify)).toEqual([]);
    check(verify);
  });

  test('of two lets two run, and one more where max is raised, and none where it is lowered', () => {
    const world = worldOf(['A', 'B', 'C', 'D', 'E']);
    world.semaphores.set('db', { scope: 'tenant', max: 2 });
    const verify = world.pipeline('check');
    begun(verify, 'A', 'B', 'C', 'D', 'E');
    expect(running(verify)).toEqual(['A unit', 'B unit']);
    world.semaphores.set('db', { scope: 'tenant', max: 3 });
    verify.turn([]);
    expect(running(verify)).toEqual(['A unit', 'B unit', 'C unit']);
    world.semaphores.set('db', { scope: 'tenant', max: 1 });
    end(verify, 'A');
    end(verify, 'B');
    expect(running(verify)).toEqual(['C unit']);
    end(verify, 'C');
    expect(running(verify)).toEqual(['D unit']);
    check(verify);
  });

  test('is left by a build that is reset, fails, is tried again or loses its item', () => {
    const world = worldOf(['A', 'B', 'C'], [job('unit', { semaphores: [{ name: 'db' }], attempts: 2 })]);
    const gate = world.pipeline('gate', { manager: 'dependent' });
    begun(gate, 'A', 'B', 'C');
    gate.turn([gate.resultEvent(buildOf(gate, 'A'), 'RETRY')]);
    // The item ahead goes first again.
    expect(running(gate)).toEqual(['A unit']);
    gate.turn([gate.resultEvent(buildOf(gate, 'A'), 'FAILURE')]);
    expect(running(gate)).toEqual([]);
    gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
    expect(running(gate)).toEqual(['B unit']);
    world.get('B').status = 'abandoned';
    gate.updated('B');
    gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
    expect(running(gate)).toEqual(['C unit']);
    check(gate);
  });

  test('that an item behind loses goes to the one ahead in the same turn', () => {
    const world = worldOf(['A', 'B']);
    const verify = world.pipeline('check');
    begun(verify, 'B');
    begun(verify, 'A');
    expect(running(verify)).toEqual(['B unit']);
    world.get('B').patchset = 2;
    verify.updated('B');
    expect(running(verify)).toEqual(['A unit']);
    check(verify);
  });

  test('counts the builds of all pipelines', () => {
    const world = worldOf(['A', 'B']);
    const [one, other] = [world.pipeline('check'), world.pipeline('again')];
    begun(one, 'A');
    begun(other, 'B');
    expect([running(one), running(other)]).toEqual([['A unit'], []]);
    expect(standing(other, 'B')).toEqual(['semaphores: db']);
    end(one, 'A');
    other.turn([]);
    expect(running(other)).toEqual(['B unit']);
    check(one, other);
  });

  test('that is not known yet starts nothing and is asked for', () => {
    const world = worldOf(['A']);
    world.semaphores.clear();
    const verify = world.pipeline('check');
    begun(verify, 'A');
    expect(running(verify)).toEqual([]);
    expect(verify.history.at(-1)?.output.unknownSemaphores).toEqual(['db']);
  });
});

describe('a job with several semaphores', () => {
  const both = { semaphores: [{ name: 'db' }, { name: 'net' }] };

  test('takes all of them or none, so that no two jobs wait for each other', () => {
    const world = worldOf(['A', 'B'], [job('first', both), job('second', both), job('third', both)]);
    const verify = world.pipeline('check');
    begun(verify, 'A', 'B');
    for (const expected of ['A first', 'A second', 'A third', 'B first', 'B second', 'B third']) {
      expect(running(verify)).toEqual([expected]);
      const [change = '', name = ''] = expected.split(' ');
      end(verify, change, name);
    }
    check(verify);
  });

  test('says what it waits for, and its wait ends when it starts', () => {
    const world = worldOf(['A'], [job('db', { semaphores: [{ name: 'db' }] }), job('all', both)]);
    const verify = world.pipeline('check');
    begun(verify, 'A');
    expect(running(verify)).toEqual(['A db']);
    expect(standing(verify, 'A')).toEqual(['executor', 'semaphores: db, net']);
    end(verify, 'A', 'db');
    expect(verify.item('A').buildset.semaphoreWaits).toMatchObject([
      {
        job: 'all',
        semaphores: ['db', 'net'],
        heldBy: [{ job: 'db', change: 'app A,1' }],
        ended: { outcome: 'taken' },
      },
    ]);
    expect(verify.item('A').buildset.builds.at(-1)?.semaphores).toEqual([
      { name: 'db', scope: 'tenant', slot: 0 },
      { name: 'net', scope: 'global', slot: 0 },
    ]);
    check(verify);
  });
});

test('a wait is part of the critical path, also while another job of the item runs', () => {
  const world = worldOf(['A', 'B'], [job('migrate', { semaphores: [{ name: 'db' }] }), job('unit')]);
  const verify = world.pipeline('check');
  begun(verify, 'A', 'B');
  verify.turn([verify.startEvent(buildOf(verify, 'B', 'unit'))]);
  end(verify, 'A', 'migrate');
  end(verify, 'B', 'unit');
  end(verify, 'B', 'migrate');
  const left = verify.left.find(item => nameOf(item) === 'B') ?? verify.item('B');
  expect(explainItem(left, world.now).criticalPath.map(({ state, text }) => `${state}: ${text}`)).toContain(
    'semaphore: migrate waited for semaphore db, which migrate of app A,1 holds',
  );
});

test('a wait ends with its item', () => {
  const world = worldOf(['A', 'B']);
  const verify = world.pipeline('check');
  begun(verify, 'A', 'B');
  world.get('B').patchset = 2;
  verify.updated('B');
  const [left] = verify.left;
  expect(left?.buildset.semaphoreWaits).toMatchObject([{ job: 'unit', ended: { outcome: 'given-up' } }]);
});
