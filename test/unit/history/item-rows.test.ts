import { expect, it } from 'vitest';
import { rowsOfItem } from '../../../src/history/item-rows.ts';
import { job, World } from '../pipeline/world.ts';

it('a build that no worker ever had is not in the history; one that was stopped is', () => {
  const world = new World();
  const gate = world.pipeline('gate', { manager: 'dependent' });
  world.jobs('app', [job('unit'), job('lint')]);
  world.change('A', { project: 'app' });
  gate.enqueue('A');
  gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
  const unit = gate.builds.find(build => build.job === 'unit');
  if (unit === undefined) throw new Error('unit was not asked for');
  gate.turn([gate.startEvent(unit)]);
  world.get('A').status = 'abandoned';
  gate.turn([{ kind: 'change-updated', uuid: world.uuid(), change: world.proposed('A').key }]);
  const [left] = gate.left;
  if (left === undefined) throw new Error('A is still there');
  const names = rowsOfItem(left).flatMap(({ builds }) => builds.map(build => build.job_name));
  expect(names).toEqual(['unit']);
});
