import { expect } from 'vitest';
import { classicLayout } from './layouts.ts';
import { story } from './story.ts';

const layout = classicLayout({ notes: false, check: true, gate: { more: ['supercedes: check'] } });

story('an approval stops what check is still doing: the gate tests it anyway', { layout }, async world => {
  await world.propose('A');
  await world.runs('project-merge: A');
  await world.approve('A');
  const left = await world.leaves('A', 'DEQUEUED', 'check');
  expect(left.reason).toBe('superseded');
  await world.runs('project-merge: A');
  expect(world.queued('check')).toEqual([]);
  world.free();
  await world.leaves('A', 'SUCCESS');
  expect(await world.history()).toEqual([
    'project-merge: A CANCELED',
    'project-merge: A SUCCESS',
    'project-test1: A SUCCESS',
    'project-test2: A SUCCESS',
  ]);
  expect(await world.landed()).toEqual(['A']);
});
