/** Random histories of pipelines whose jobs share semaphores: nothing is held twice, and all work ends, so that nothing is held for ever. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isOpen } from '../../src/model/build.ts';
import { honestNature } from '../unit/pipeline/chaos.ts';
import { job, World } from '../unit/pipeline/world.ts';
import { addChanges, badOnes, more, patience, playOut, type RandomChange, steps } from './histories.ts';

const changes: fc.Arbitrary<readonly RandomChange[]> = fc.array(
  fc.record({
    lib: fc.boolean(),
    needs: fc.uniqueArray(fc.nat({ max: 5 }), { maxLength: 1 }),
    bad: fc.nat({ max: 3 }).map(n => n === 0),
  }),
  { minLength: 2, maxLength: 6 },
);
const setting = fc.record({
  changes,
  max: fc.constantFrom(1, 2),
  manager: fc.constantFrom('dependent', 'independent'),
});

it(
  'jobs that share semaphores all run, in any history',
  () => {
    fc.assert(
      fc.property(setting, steps(60), ({ changes: wanted, max, manager }, played) => {
        const world = new World();
        world.semaphores.set('db', { scope: 'tenant', max });
        world.semaphores.set('net', { scope: 'global', max: 1 });
        const both = { semaphores: [{ name: 'db' }, { name: 'net' }] };
        for (const project of ['app', 'lib'])
          world.jobs(project, [
            job('one', { semaphores: [{ name: 'db' }], attempts: 2 }),
            job('two', both),
            job('free', { dependencies: [{ name: 'one', soft: false }] }),
          ]);
        const pipeline = world.pipeline('pipeline', { manager, speaks: ['success', 'failure', 'dequeue'] });
        addChanges(
          world,
          { changes: wanted },
          (other, index) => other < index && wanted[other]?.lib === wanted[index]?.lib,
        );
        playOut(pipeline, honestNature(pipeline, badOnes({ changes: wanted })), played);
        const held = [...pipeline.state.items.values()].flatMap(({ buildset }) =>
          buildset.builds.filter(isOpen),
        );
        expect(held).toEqual([]);
      }),
      { numRuns: 40 * more },
    );
  },
  patience,
);
