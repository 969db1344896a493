import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';

const jobs = (...names: readonly string[]) => names.map(name => `- job: {name: ${name}}\n`).join('');
const PROJECTS = { 'org/project': { 'README.md': 'A project.\n' } };

const GRAPH = layoutWith(`
${jobs('a', 'b', 'c', 'd', 'e', 'f', 'g')}
- project:
    name: org/project
    gate:
      jobs:
        - a
        - b: {dependencies: [a]}
        - c: {dependencies: [a]}
        - d: {dependencies: [b]}
        - e: {dependencies: [c]}
        - f: {dependencies: [b, c]}
        - g: {dependencies: [f]}
`);

story(
  'a job starts when all it depends on have succeeded, and only once',
  { layout: GRAPH, projects: PROJECTS },
  async world => {
    await world.propose('A');
    await world.approve('A');
    await world.runs('a: A');
    world.release(/^a:/);
    await world.runs('b: A', 'c: A');
    world.release(/^b:/);
    await world.runs('c: A', 'd: A');
    world.release(/^c:/);
    await world.runs('d: A', 'e: A', 'f: A');
    world.release(/^[df]:/);
    await world.runs('e: A', 'g: A');
    world.release(/./);
    await world.leaves('A', 'SUCCESS');
    expect(await world.history()).toEqual(
      ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(job => `${job}: A SUCCESS`),
    );
  },
);

story(
  'nothing below a failed job runs, everything else does',
  { layout: GRAPH, projects: PROJECTS },
  async world => {
    await world.propose('A');
    world.fail('c', 'A');
    world.free();
    await world.approve('A');
    await world.leaves('A', 'FAILURE');
    expect(await world.history()).toEqual(['a: A SUCCESS', 'b: A SUCCESS', 'c: A FAILURE', 'd: A SUCCESS']);
    expect(await world.landed()).toEqual([]);
    const said = (await world.notes('A')).at(-1);
    expect(said).toMatch(/- e .* : SKIPPED because of c/);
  },
);

const SOFT = layoutWith(`
${jobs('deploy')}
- job: {name: build, files: [main.c]}
- project:
    name: org/project
    gate:
      jobs:
        - build
        - deploy: {dependencies: [{name: build, soft: true}]}
`);

story(
  'a soft dependency counts only where the job is there',
  { layout: SOFT, projects: PROJECTS },
  async world => {
    world.free();
    await world.propose('A');
    await world.approve('A');
    await world.leaves('A', 'SUCCESS');
    await world.propose('B', { files: { 'main.c': 'int main() {}\n' } });
    world.fail('build', 'B');
    await world.approve('B');
    await world.leaves('B', 'FAILURE');
    expect(await world.history()).toEqual(['build: B FAILURE', 'deploy: A SUCCESS']);
    expect((await world.notes('B')).at(-1)).toMatch(/- deploy .* : SKIPPED because of build/);
  },
);

const MISSING = layoutWith(`
${jobs('deploy')}
- job: {name: build, files: [main.c]}
- project:
    name: org/project
    gate:
      jobs:
        - build
        - deploy: {dependencies: [build]}
`);

story(
  'a hard dependency on a job that does not run is an error that names both',
  { layout: MISSING, projects: PROJECTS },
  async world => {
    await world.propose('A');
    await world.approve('A');
    await world.leaves('A', 'CONFIG_ERROR');
    const said = (await world.notes('A')).at(-1);
    expect(said).toContain('deploy');
    expect(said).toContain('build');
    expect(await world.history()).toEqual([]);
  },
);
