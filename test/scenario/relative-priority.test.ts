/** One project has many changes waiting for an executor, another has one: who is served first is a setting. */
import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';

const BUSY = 'org/project1';
const QUIET = 'org/project2';
const layout = layoutWith(
  `\n- job:\n    name: unit\n${[BUSY, QUIET]
    .map(name => `- project:\n    name: ${name}\n    check: {jobs: [unit]}\n`)
    .join('')}`,
  { notes: false, check: true, gate: false },
);

const ORDERS = [
  { relative: 'false', what: 'by age', first: ['A', 'B'], next: ['C', 'D'] },
  {
    relative: 'true',
    what: 'the first change of each project before the second of any',
    first: ['A', 'D'],
    next: ['B', 'C'],
  },
];

for (const { relative, what, first, next } of ORDERS)
  story(
    `with relative_priority = ${relative} an executor takes builds ${what}`,
    {
      layout,
      scheduler: [`relative_priority = ${relative}`],
      maxBuilds: 2,
      executor: ['paused_on_start = true'],
    },
    async world => {
      for (const topic of ['A', 'B', 'C']) await world.propose(topic, { project: BUSY });
      await world.propose('D', { project: QUIET });
      await world.observer.until('all builds to wait for the executor', () =>
        ['A', 'B', 'C', 'D'].every(topic => world.item(topic, 'check')?.jobs[0]?.state === 'requested'),
      );
      await world.operator.post('/api/components/executor-0/resume', {});
      const taken = async (topics: readonly string[]) => {
        const running = () => world.observer.running().map(({ changes }) => changes);
        await world.observer.until('two builds to run', () => running().length === topics.length);
        expect(running().toSorted()).toEqual(topics);
      };
      await taken(first);
      world.release(/./);
      await taken(next);
    },
  );
