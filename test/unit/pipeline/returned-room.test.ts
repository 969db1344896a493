import { expect, it } from 'vitest';
import type { Returned } from '../../../src/model/returned.ts';
import { job, World } from './world.ts';

/** A in the gate, all its jobs running. */
function running(jobs: number) {
  const world = new World();
  const gate = world.pipeline('gate', { manager: 'dependent' });
  world.jobs(
    'app',
    Array.from({ length: jobs }, (_, index) => job(`unit-${index}`)),
  );
  world.change('A', { project: 'app' });
  gate.enqueue('A');
  gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
  return gate;
}

const returned = (size: number): Returned => ({ data: { text: 'x'.repeat(size) } });

it('what a build returned stays with its result', () => {
  const gate = running(1);
  const [build] = gate.builds;
  const event = gate.resultEvent(build!, 'SUCCESS');
  gate.turn([{ ...event, returned: returned(1) } as typeof event]);
  expect(gate.item('A').buildset.builds[0]?.state).toMatchObject({
    result: 'SUCCESS',
    returned: { data: { text: 'x' } },
  });
});

it('a build that returns more than an item can hold ends with ERROR and the reason', () => {
  const gate = running(4);
  for (const build of gate.builds) {
    const event = gate.resultEvent(build, 'SUCCESS');
    gate.turn([{ ...event, returned: returned(60_000) } as typeof event]);
  }
  const states = gate.item('A').buildset.builds.map(({ state }) => state);
  expect(states.map(state => (state.state === 'completed' ? state.result : state.state))).toEqual([
    'SUCCESS',
    'SUCCESS',
    'SUCCESS',
    'ERROR',
  ]);
  expect(states[3]).toMatchObject({
    detail: expect.stringMatching(/^it returned data, and with it .* 2400\d\d characters: more than 200000/),
  });
});

it('a build that is tried again has returned nothing', () => {
  const gate = running(1);
  const [build] = gate.builds;
  const event = gate.resultEvent(build!, 'RETRY');
  gate.turn([{ ...event, returned: returned(1) } as typeof event]);
  expect(JSON.stringify(gate.item('A').buildset.builds[0])).not.toContain('returned');
});
