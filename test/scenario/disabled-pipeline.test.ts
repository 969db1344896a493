/** A pipeline that fails repeatedly reports elsewhere until its configuration changes (Zuul's test_disable_at). */
import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

const layout = layoutWith(
  `
- pipeline:
    name: fragile
    manager: independent
    disable-after-consecutive-failures: 3
    trigger:
      local: [{event: proposed}]
    success:
      local: {note: true}
    failure:
      local: {note: true}
- job:
    name: unit
- project:
    name: org/project
    fragile: {jobs: [unit]}
`,
  { gate: false },
);

story(
  'three failures in a row silence a pipeline until the tenant has a new layout',
  { layout },
  async world => {
    world.free();
    await finish(world, {
      A: 'FAILURE',
      B: 'FAILURE',
      C: 'SUCCESS',
      D: 'FAILURE',
      E: 'FAILURE',
      F: 'FAILURE',
    });
    // The third is still reported as usual; later results are not, good or bad.
    for (const topic of ['A', 'B', 'C', 'D', 'E', 'F']) expect(await world.notes(topic, 1)).toHaveLength(1);
    await finish(world, { G: 'FAILURE', H: 'SUCCESS' });
    for (const topic of ['G', 'H']) expect(await world.notes(topic)).toEqual([]);

    const developer = world.developer('org/config');
    const files = { 'zuul.yaml': `${layout}\n- job: {name: another}\n` };
    await world.push('org/config', await developer.commit({ files, message: 'More' }), 'refs/heads/master');
    await finish(world, { I: 'FAILURE', J: 'SUCCESS' });
    for (const topic of ['I', 'J']) expect(await world.notes(topic, 1)).toHaveLength(1);
  },
);

async function finish(world: World, results: Readonly<Record<string, string>>): Promise<void> {
  for (const [topic, result] of Object.entries(results)) {
    if (result === 'FAILURE') world.fail('unit', topic);
    await world.propose(topic);
    await world.leaves(topic, result, 'fragile');
  }
}
