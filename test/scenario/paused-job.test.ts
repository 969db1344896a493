/** A job pauses for those that depend on it: one slot is enough for all, and everything that ends a build ends its pause. */
import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { TENANT } from './site.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

const layout = layoutWith(
  `
- job: {name: registry, run: playbooks/serve.sh, post-run: playbooks/remove.sh, provides: [image]}
- job: {name: unit, requires: [image]}
- job: {name: docs}
- project:
    name: org/project
    gate:
      jobs:
        - registry
        - unit: {dependencies: [registry]}
        - docs: {dependencies: [unit]}
`,
  { notes: false },
);
const configFiles = {
  'playbooks/serve.sh': `#!/bin/sh
gatehouse return '{"zuul": {"pause": true, "artifacts": [{"name": "image", "url": "https://registry.example.org/1"}]}, "port": 5000}'
`,
  'playbooks/remove.sh': '#!/bin/sh\necho removed the image\n',
};

interface StatusJob {
  readonly name: string;
  readonly paused: boolean;
  readonly result: string | null;
}

interface Status {
  readonly pipelines: readonly {
    readonly name: string;
    readonly change_queues: readonly {
      readonly heads: readonly (readonly { readonly jobs: readonly StatusJob[] }[])[];
    }[];
  }[];
}

interface Build {
  readonly uuid: string;
  readonly job_name: string;
  readonly result: string;
}

async function buildsOf(world: World, job: string): Promise<readonly Build[]> {
  return world.api.get<readonly Build[]>(`/api/tenant/${TENANT}/builds?job_name=${job}`);
}

story(
  'a job pauses with the only slot while those that depend on it run, and then runs its post-run',
  { layout, configFiles, maxBuilds: 1 },
  async world => {
    await world.propose('A');
    await world.approve('A');
    await world.runs('unit: A');
    expect(await world.decided('A', 'pause')).toMatchObject({
      text: expect.stringContaining('registry pauses while the jobs that depend on it run'),
    });
    expect(world.item('A')?.jobs[0]).toMatchObject({ name: 'registry', state: 'started', result: 'PAUSED' });
    const status = await world.api.get<Status>(`/api/tenant/${TENANT}/status`);
    const gate = status.pipelines.find(({ name }) => name === 'gate');
    expect(gate?.change_queues[0]?.heads[0]?.[0]?.jobs[0]).toMatchObject({ paused: true, result: null });

    // Its registry takes no slot, and what A's provided, which is paused as well, is enough for its jobs.
    await world.propose('B');
    await world.approve('B');
    world.free();
    await world.leaves('A', 'SUCCESS');
    await world.leaves('B', 'SUCCESS');
    expect(await world.landed()).toEqual(['A', 'B']);
    const [registry] = await buildsOf(world, 'registry');
    const log = await world.api.text(`/api/tenant/${TENANT}/build/${registry?.uuid}/log`);
    expect(log).toMatch(/Job paused[\s\S]*Job resumed[\s\S]*removed the image/);
    const pause = await world.observer.until('the span of the pause', () =>
      world.sink.spans.find(({ name }) => name === 'Pause registry'),
    );
    expect(pause.attributes['gatehouse.span.type']).toBe('Pause');
  },
);

story(
  'a paused job ends with its item, is tried again with the jobs that depend on it when its executor stops, and starts anew after a reset',
  { layout, configFiles, maxBuilds: 2 },
  async world => {
    await world.propose('A');
    await world.approve('A');
    await world.runs('unit: A');
    await world.restart('org/project');
    await world.observer.until('the second attempt to pause', () => {
      const [registry] = world.item('A')?.jobs ?? [];
      return registry?.attempt === 2 && registry.result === 'PAUSED';
    });
    await world.runs('unit: A');

    // Behind A: when A leaves, B's paused build is stopped and another one pauses.
    await world.propose('B');
    await world.approve('B');
    await world.runs('unit: A', 'unit: A B');
    await world.abandon('A');
    await world.leaves('A', 'DEQUEUED');
    await world.runs('unit: B');
    world.free();
    await world.leaves('B', 'SUCCESS');
    expect(await world.landed()).toEqual(['B']);
    const results = (await buildsOf(world, 'registry')).map(({ result }) => result).toSorted();
    expect(results).toEqual(['CANCELED', 'CANCELED', 'RETRY', 'SUCCESS']);
  },
);

const shared = `
- queue: {name: integrated, allow-circular-dependencies: true}
- job: {name: registry, run: playbooks/serve.sh, required-projects: [org/project1, org/project2]}
- job: {name: unit}
- job: {name: docs}
- project:
    name: org/project1
    queue: integrated
    gate: {jobs: [registry, unit: {dependencies: [registry]}, docs: {dependencies: [registry]}]}
- project:
    name: org/project2
    queue: integrated
    gate: {jobs: [registry, unit: {dependencies: [registry]}, docs: {dependencies: [registry]}]}
`;

story(
  'of changes that land together one job pauses for the jobs of both, and leaves out those of both',
  {
    layout: layoutWith(shared, { notes: false }),
    configFiles: {
      'playbooks/serve.sh': `#!/bin/sh
gatehouse return '{"zuul": {"pause": true, "child_jobs": ["unit"]}, "port": 5000}'
`,
    },
    maxBuilds: 2,
  },
  async world => {
    await world.propose('A', { project: 'org/project1', message: 'Depends-On: org/project2@master/B' });
    await world.propose('B', { project: 'org/project2', message: 'Depends-On: org/project1@master/A' });
    await world.approve('A');
    await world.approve('B');
    await world.runs('unit: A B', 'unit: A B');
    const results = world.item('A')?.jobs.map(({ name, result }) => `${name.split('@')[0]} ${result}`);
    expect(results?.filter(each => each === 'registry PAUSED')).toHaveLength(1);
    expect(results?.filter(each => each.includes('SKIPPED'))).toHaveLength(2);
    world.free();
    await world.leaves('A', 'SUCCESS');
    await world.leaves('B', 'SUCCESS');
    expect(await buildsOf(world, 'registry')).toHaveLength(1);
  },
);
