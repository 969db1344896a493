import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import type { ComponentsJson } from '../../src/api/components.ts';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';

const marker = path.join(tmpdir(), `gatehouse-story-pids-${process.pid}`);
const layout = layoutWith(
  `
- job: {name: stubborn, run: playbooks/stubborn.sh, timeout: 2}
- job: {name: noisy, run: playbooks/noisy.sh, voting: false}
- job: {name: good}
- project:
    name: org/project
    gate: {jobs: [stubborn, noisy, good]}
- project:
    name: org/other
    gate: {jobs: [good]}
`,
  { notes: false },
);
const projects = { 'org/project': { 'README.md': '1\n' }, 'org/other': { 'README.md': '2\n' } };
const configFiles = {
  // Forks into sessions of their own, ignores every polite signal, and goes on writing.
  'playbooks/stubborn.sh': `#!/bin/sh
trap '' TERM INT HUP
for i in 1 2 3; do
  setsid sh -c 'trap "" TERM INT HUP; echo $$ >>${marker}; while :; do sleep 1; done' &
done
echo $$ >>${marker}
while :; do sleep 1; done
`,
  'playbooks/noisy.sh': '#!/bin/sh\nyes "all work and no play"\n',
};

story(
  'a job that forks, floods its log and ignores signals is ended, and only it',
  { layout, projects, configFiles, executor: ['output_max_bytes = 200000'] },
  async world => {
    await world.propose('A');
    await world.propose('B', { project: 'org/other' });
    await world.approve('A');
    await world.approve('B');
    await world.observer.until(
      'both good jobs to run',
      () => world.observer.running().filter(build => build.job === 'good').length === 2,
    );
    world.free();
    await world.leaves('B', 'SUCCESS');
    await world.leaves('A', 'FAILURE');
    const builds = await world.api.get<
      readonly {
        readonly uuid: string;
        readonly job_name: string;
        readonly result: string;
        readonly error_detail: string | null;
      }[]
    >('/api/tenant/tenant-one/builds?project=org/project');
    const of = (job: string) => builds.find(build => build.job_name === job);
    expect(of('stubborn')?.result).toBe('TIMED_OUT');
    expect(of('noisy')?.result).toBe('FAILURE');
    expect(of('noisy')?.error_detail).toContain('wrote more than the 200000 bytes');
    expect(of('good')?.result).toBe('SUCCESS');

    // What could have held it, and what this site did without.
    const { executor = [] } = await world.api.get<ComponentsJson>('/api/components');
    const walls = new Map(executor[0]?.gatehouse.walls.map(({ name, state }) => [name, state]));
    expect(walls.get('sandbox')).toBe('off');
    expect(walls.get('memory')).toBe('off');
    expect(walls.get('files')).toBe('stands');
    expect([...walls.keys()]).toContain('processes');

    const log = await world.api.text(`/api/tenant/tenant-one/build/${of('noisy')?.uuid}/log?limit=4000000`);
    expect(log.length).toBeGreaterThan(100_000);
    expect(log.length).toBeLessThan(220_000);
    expect(log.trimEnd().split('\n').at(-1)).toMatch(/RESULT: FAILURE/);
    expect(existsSync(marker)).toBe(true);
    const pids = readFileSync(marker, 'utf8').trim().split('\n').map(Number);
    expect(pids.length).toBeGreaterThan(1);
    await world.observer.until('all processes of the job to be gone', () =>
      pids.every(pid => !existsSync(`/proc/${pid}`)),
    );
  },
);
