import { expect, it } from 'vitest';
import { WORKER_ENDS_PER_JOB, type WorkerEnd } from '../../../src/model/build.ts';
import type { BuildResult } from '../../../src/model/results.ts';
import { job, type PipelineWorld, World } from './world.ts';

/** A in the gate, its only job running with the default of 3 attempts. */
function running(): PipelineWorld {
  const world = new World();
  const gate = world.pipeline('gate', { manager: 'dependent' });
  world.jobs('app', [job('unit')]);
  world.change('A', { project: 'app' });
  gate.enqueue('A');
  gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
  return gate;
}

/** The only build ends; `lost`: with its executor. */
function end(gate: PipelineWorld, result: BuildResult, workerEnd?: WorkerEnd): void {
  const [build] = gate.builds;
  if (build === undefined) throw new Error('no build runs');
  const event = gate.resultEvent(build, result);
  if (event.kind !== 'build-result') throw new Error('no result');
  const detail = workerEnd === 'lost' ? 'its executor is gone' : 'pre-run failed';
  gate.turn([{ ...event, detail, ...(workerEnd === undefined ? {} : { workerEnd }) }]);
}

const results = (gate: PipelineWorld) => {
  const item = gate.state.items.values().next().value ?? gate.left.at(-1);
  return item?.buildset.builds.map(({ state }) => (state.state === 'completed' ? state.result : state.state));
};

it('an executor that vanishes costs no attempt', () => {
  const gate = running();
  for (let lost = 1; lost < WORKER_ENDS_PER_JOB.lost; lost += 1) end(gate, 'RETRY', 'lost');
  end(gate, 'RETRY');
  end(gate, 'RETRY');
  expect(gate.builds).toHaveLength(1);
  end(gate, 'SUCCESS');
  expect(results(gate)).toEqual([
    ...Array.from({ length: WORKER_ENDS_PER_JOB.lost + 1 }, () => 'RETRY'),
    'SUCCESS',
  ]);
});

it('what is no attempt does not hide the attempts: the last one is the end', () => {
  const gate = running();
  end(gate, 'RETRY');
  end(gate, 'RETRY', 'lost');
  end(gate, 'RETRY', 'stopped');
  end(gate, 'RETRY');
  end(gate, 'RETRY');
  expect(results(gate)).toEqual(['RETRY', 'RETRY', 'RETRY', 'RETRY', 'RETRY_LIMIT']);
});

it('a build that has cost five executors their life is ended, and its detail has the reason', () => {
  const gate = running();
  for (let lost = 1; lost <= WORKER_ENDS_PER_JOB.lost; lost += 1) end(gate, 'RETRY', 'lost');
  expect(gate.builds).toEqual([]);
  expect(gate.item('A').buildset.builds.at(-1)?.state).toMatchObject({
    result: 'RETRY_LIMIT',
    detail: '5 executors were lost while running it',
  });
});

it('a service that goes down as a whole costs no attempt either, within bounds', () => {
  const gate = running();
  for (let outage = 1; outage < WORKER_ENDS_PER_JOB.outage; outage += 1) end(gate, 'RETRY', 'outage');
  expect(gate.builds).toHaveLength(1);
  end(gate, 'RETRY', 'outage');
  expect(results(gate)?.at(-1)).toBe('RETRY_LIMIT');
});

it('an executor that is asked to stop returns its builds, any number of times', () => {
  const gate = running();
  for (let stops = 0; stops < 20; stops += 1) end(gate, 'RETRY', 'stopped');
  end(gate, 'SUCCESS');
  expect(results(gate)?.filter(result => result === 'RETRY')).toHaveLength(20);
});
