import { expect, test } from 'vitest';
import { job, World } from './world.ts';

test('a request for one item removes that item, and none that took its place', () => {
  const world = new World();
  const gate = world.pipeline('gate', { manager: 'dependent' });
  world.jobs('app', [job('unit')]);
  world.change('A', { project: 'app' });
  gate.enqueue('A');
  const ask = (item: ReturnType<typeof world.uuid>) =>
    gate.turn([{ kind: 'dequeue', uuid: world.uuid(), change: world.proposed('A').key, item, by: 'bob' }]);
  ask(world.uuid());
  expect(gate.left).toEqual([]);
  ask(gate.item('A').uuid);
  expect(gate.left.map(({ phase }) => phase)).toMatchObject([
    { reason: 'dequeued-by-hand', remover: { kind: 'operator', name: 'bob' } },
  ]);
});

test.each([{ manager: 'dependent' }, { manager: 'independent' }] as const)(
  'an item leaves a $manager pipeline when its change is proposed for another branch',
  ({ manager }) => {
    const world = new World();
    const pipeline = world.pipeline('pipeline', { manager });
    world.jobs('app', [job('unit')]);
    const change = world.change('A', { project: 'app' });
    pipeline.enqueue('A');
    change.branch = 'stable';
    const { decisions } = pipeline.updated('A');
    expect(pipeline.left.map(({ phase }) => phase)).toMatchObject([{ reason: 'new-patchset' }]);
    expect(decisions.map(({ text }) => text)).toContainEqual(
      expect.stringMatching(/app A,1, which is for branch stable/),
    );
    pipeline.enqueue('A');
    expect(pipeline.item('A').changes[0].branch).toBe('stable');
  },
);
