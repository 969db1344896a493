/** The notes of a change that an operator, or another pipeline, takes out (Zuul's test_dequeue_reporting). */
import { expect } from 'vitest';
import { NOTED } from '../fake/layout-text.ts';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';

const PROJECT = `
- job:
    name: unit
- project:
    name: org/project
    check: {jobs: [unit]}
    gate: {jobs: [unit]}
`;
/** The usual pipelines, which also report when they begin and when they dequeue a change. */
const layout = layoutWith(PROJECT, {
  check: true,
  gate: { more: ['supercedes: check', ...says('dequeue')], notes: NOTED },
}).replace(
  '    name: check\n    manager: independent\n',
  [
    '    name: check',
    '    manager: independent',
    ...says('start', 'dequeue').map(line => `    ${line}`),
    '',
  ].join('\n'),
);

function says(...actions: readonly string[]): readonly string[] {
  return actions.flatMap(action => [`${action}:`, '  local: {note: true}']);
}

const firstLines = (notes: readonly string[]) => notes.map(note => note.split('\n')[0]);

story('a change dequeued by hand gets a note', { layout }, async world => {
  await world.propose('A');
  await world.runs('unit: A');
  await world.notes('A', 1);
  await world.operator.post('/api/tenant/tenant-one/project/org/project/dequeue', {
    pipeline: 'check',
    change: 'master/A',
  });
  await world.leaves('A', 'DEQUEUED', 'check');
  expect(firstLines(await world.notes('A', 2))).toEqual(['Starting check jobs.', 'Build canceled (check).']);
});

story('a change that goes on in the gate gets the outcome of check, in order', { layout }, async world => {
  await world.propose('A');
  await world.runs('unit: A');
  await world.notes('A', 1);
  await world.approve('A');
  await world.leaves('A', 'DEQUEUED', 'check');
  world.free();
  await world.leaves('A', 'SUCCESS');
  expect(firstLines(await world.notes('A', 4)).toSorted()).toEqual([
    'Build canceled (check).',
    'Build succeeded (gate).',
    'Starting check jobs.',
    'Starting gate jobs.',
  ]);
});

story('a change that is tested again in the gate gets no note of the cancel', { layout }, async world => {
  await world.propose('A');
  await world.propose('B');
  world.fail('unit', 'A');
  await world.runs('unit: A', 'unit: B');
  world.release(/./);
  await world.leaves('A', 'FAILURE', 'check');
  await world.leaves('B', 'SUCCESS', 'check');
  await world.approve('A');
  await world.approve('B');
  await world.runs('unit: A', 'unit: A B');
  world.release(/unit: A$/);
  await world.leaves('A', 'FAILURE');
  await world.runs('unit: B');
  world.free();
  await world.leaves('B', 'SUCCESS');
  for (const topic of ['A', 'B'])
    expect(firstLines(await world.notes(topic, 4)).filter(line => line?.includes('canceled'))).toEqual([]);
});
