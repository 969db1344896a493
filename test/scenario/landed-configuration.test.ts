import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';

const JOBS = `
- job:
    name: old
- job:
    name: new
- project:
    name: org/project
    gate: {jobs: [old]}
- project:
    name: org/config
    gate: {jobs: [old]}
`;
const layout = layoutWith(JOBS);

story(
  'configuration that the gate landed counts at once, also when no webhook tells of it',
  { layout },
  async world => {
    await world.propose('K', {
      project: 'org/config',
      files: {
        'zuul.yaml': layout.replace(
          'org/project\n    gate: {jobs: [old]}',
          'org/project\n    gate: {jobs: [new]}',
        ),
      },
    });
    await world.approve('K');
    await world.runs('old: K');
    world.ignoreHooks();
    world.release(/./);
    await world.leaves('K', 'SUCCESS');
    await world.propose('A');
    await world.approve('A');
    await world.runs('new: A');
    expect(await world.landed('org/config')).toEqual(['K']);
  },
);
