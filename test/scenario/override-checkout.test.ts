/** Jobs that check out another branch than that of the change. */
import { expect } from 'vitest';
import { BASE_JOB } from '../fake/layout-text.ts';
import { story } from './story.ts';

const LAYOUT = `${BASE_JOB}
- pipeline:
    name: check
    manager: independent
    trigger:
      local: [{event: proposed}]
- job: {name: unit}
- job: {name: upgrade, override-checkout: stable}
- project:
    name: org/project
    check: {jobs: [unit, upgrade]}
`;

story('a job tests the branch that override-checkout names', { layout: LAYOUT }, async world => {
  const developer = world.developer('org/project');
  const stable = await developer.commit({ files: { 'stable.txt': 'stable\n' }, message: 'Begin stable' });
  await world.push('org/project', stable, 'refs/heads/stable');
  await world.propose('A');
  await world.runs('unit: A', 'upgrade: A');
  const checkouts = world.stage.builds.map(({ job, variables: { zuul } }) => {
    const projects = Object.values(zuul.projects as { readonly [name: string]: Checkout });
    return [job, ...projects.filter(({ name }) => name === 'org/project').map(({ checkout }) => checkout)];
  });
  expect(checkouts.sort()).toEqual([
    ['unit', 'master'],
    ['upgrade', 'stable'],
  ]);
  world.free();
  await world.leaves('A', 'SUCCESS', 'check');
});

interface Checkout {
  readonly name: string;
  readonly checkout: string;
}
