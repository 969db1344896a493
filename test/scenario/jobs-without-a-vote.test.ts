import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';

const layout = layoutWith(
  `
- job: {name: style, voting: false}
- job: {name: unit}
- job: {name: upload, post-run: playbooks/no-room.sh}
- job: {name: render, nodeset: {nodes: [{name: main, label: gpu}]}}
- project:
    name: org/untested
    gate: {jobs: [noop]}
- project:
    name: org/voting
    gate: {jobs: [unit, style, {upload: {voting: false}}, {render: {voting: false}}]}
- project:
    name: org/hasty
    gate: {fail-fast: true, jobs: [unit, upload]}
`,
  { check: true },
);
const projects = {
  'org/untested': { 'README.md': '1\n' },
  'org/voting': { 'README.md': '2\n' },
  'org/unlisted': { 'README.md': '3\n' },
  'org/hasty': { 'README.md': '4\n' },
};
const configFiles = { 'playbooks/no-room.sh': '#!/bin/sh\nexit 1\n' };

story('noop lands a change without running anything', { layout, projects }, async world => {
  await world.propose('A', { project: 'org/untested' });
  await world.approve('A');
  await world.leaves('A', 'SUCCESS');
  expect(await world.landed('org/untested')).toEqual(['A']);
  expect(world.stage.builds).toEqual([]);
});

story(
  'a project without jobs in a pipeline passes through, and gets a note only where the pipeline has a reporter for it',
  { layout, projects },
  async world => {
    await world.propose('A', { project: 'org/unlisted' });
    await world.leaves('A', 'NO_JOBS', 'check');
    await world.approve('A');
    await world.leaves('A', 'NO_JOBS');
    const notes = await world.notes('A', 1);
    expect(notes).toHaveLength(1);
    expect(notes[0]).toContain('No jobs ran (gate).');
    // Never a merge for nothing.
    expect(await world.landed('org/unlisted')).toEqual([]);
    expect(world.stage.builds).toEqual([]);
  },
);

story('a job without a vote may end in any way', { layout, projects, configFiles }, async world => {
  await world.propose('A', { project: 'org/voting' });
  world.fail('style', 'A');
  world.free();
  await world.approve('A');
  await world.leaves('A', 'SUCCESS');
  expect(await world.history()).toEqual(['style: A FAILURE', 'unit: A SUCCESS', 'upload: A POST_FAILURE']);
  expect(await world.landed('org/voting')).toEqual(['A']);
  const note = (await world.notes('A')).at(-1);
  expect(note).toMatch(/- style .* : FAILURE .*\(non-voting\)/);
  expect(note).toMatch(/- render .* : NODE_FAILURE .*\(non-voting\)/);
  const [style, unit] = ['style', 'unit'].map(job => world.stage.builds.find(build => build.job === job));
  expect([style?.variables.zuul.voting, unit?.variables.zuul.voting]).toEqual([false, true]);
});

story(
  'where one failure is enough, the other jobs of the change are stopped',
  { layout, projects, configFiles },
  async world => {
    await world.propose('A', { project: 'org/hasty' });
    world.fail('unit', 'A');
    await world.approve('A');
    await world.runs('unit: A', 'upload: A');
    world.release(/unit: A/);
    await world.leaves('A', 'FAILURE');
    expect(await world.history()).toEqual(['unit: A FAILURE', 'upload: A CANCELED']);
  },
);
