/** Changes that depend on each other: what their queue and semaphores make of them. */
import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { TENANT } from './site.ts';
import { story } from './story.ts';

const TO_A = 'Depends-On: org/project1@master/A';
const TO_B = 'Depends-On: org/project2@master/B';

/** Both projects list the same jobs, in check and in the gate, or in the gate alone. */
function layoutOf(queue: string, jobs: string, list: string, check = true): string {
  const lists = `${check ? `check: {jobs: [${list}]}, ` : ''}gate: {jobs: [${list}]}`;
  const text = `
- queue: {name: integrated, allow-circular-dependencies: true${queue}}
${jobs}
- project: {name: org/project1, queue: integrated, ${lists}}
- project: {name: org/project2, queue: integrated, ${lists}}
`;
  return layoutWith(text, { checkout: false, check: true, notes: false });
}

story(
  'a job that runs once for both takes its semaphore once, and one that runs for each takes turns',
  {
    layout: layoutOf(
      '',
      '- job: {name: common, semaphores: [staging], required-projects: [org/project1, org/project2]}\n- job: {name: own, semaphores: [staging]}',
      'common, own',
    ),
  },
  async world => {
    await world.propose('A', { project: 'org/project1', message: TO_B });
    await world.decided('A', 'dependency-unresolved');
    await world.propose('B', { project: 'org/project2', message: TO_A });
    for (let run = 1; run <= 3; run++) {
      await world.observer.until('one build at a time', () => world.observer.running().length === 1);
      expect(await world.api.get(`/api/tenant/${TENANT}/semaphores`)).toMatchObject([
        { name: 'staging', holders: { count: 1 } },
      ]);
      const before = world.stage.builds.length;
      world.release(/./);
      if (run < 3) await world.observer.until('the next build', () => world.stage.builds.length > before);
    }
    const item = await world.leaves('A', 'SUCCESS', 'check');
    expect((await world.leaves('B', 'SUCCESS', 'check')).uuid).toBe(item.uuid);
    expect(await world.history()).toEqual(['common: A B SUCCESS', 'own: A B SUCCESS', 'own: A B SUCCESS']);
    expect(await world.api.get(`/api/tenant/${TENANT}/semaphores`)).toEqual([]);
  },
);

story(
  'a job that runs once for both is tried again once, and fails once where no executor can take it',
  {
    layout: layoutOf(
      '',
      `- nodeset: {name: rare, nodes: [{name: node, label: rare}]}
- job: {name: flaky, pre-run: playbooks/first-time.sh, required-projects: [org/project1, org/project2]}
- job: {name: stuck, nodeset: rare, required-projects: [org/project1, org/project2]}`,
      'flaky, stuck',
    ),
    configFiles: { 'playbooks/first-time.sh': '#!/bin/sh\ntest "$ZUUL_ATTEMPT" != 1\n' },
  },
  async world => {
    world.free();
    await world.propose('A', { project: 'org/project1', message: TO_B });
    await world.decided('A', 'dependency-unresolved');
    await world.propose('B', { project: 'org/project2', message: TO_A });
    const item = await world.leaves('A', 'FAILURE', 'check');
    expect((await world.leaves('B', 'FAILURE', 'check')).uuid).toBe(item.uuid);
    const builds = await world.api.get<readonly { readonly job_name: string; readonly result: string }[]>(
      `/api/tenant/${TENANT}/builds`,
    );
    expect(builds.map(({ job_name, result }) => `${job_name} ${result}`).toSorted()).toEqual([
      'flaky RETRY',
      'flaky SUCCESS',
      'stuck NODE_FAILURE',
    ]);
  },
);

story(
  'where the queue is one for each branch, changes for two branches cannot land together, and the reason says so',
  { layout: layoutOf(', per-branch: true', '- job: {name: own}', 'own') },
  async world => {
    const developer = world.developer('org/project2');
    await world.push('org/project2', await developer.git('rev-parse', 'master'), 'refs/heads/stable');
    await world.propose('A', { project: 'org/project1', message: 'Depends-On: org/project2@stable/B' });
    await world.propose('B', { project: 'org/project2', branch: 'stable', message: TO_A });
    await world.approve('B');
    await world.approve('A');
    const refused = await world.decided('A', 'dependency-cycle');
    expect(refused.text).toContain('they are in integrated master and in integrated stable');
    expect(refused.text).not.toContain('allow-circular-dependencies');
    expect(world.queued()).toEqual([]);
    expect(await world.landed('org/project1')).toEqual([]);
  },
);

story(
  'a change that needs both waits for them, and lands behind them',
  { layout: layoutOf('', '- job: {name: own}', 'own', false) },
  async world => {
    await world.propose('A', { project: 'org/project1', message: TO_B });
    await world.propose('B', { project: 'org/project2', message: TO_A });
    await world.propose('C', { project: 'org/project1', message: 'Depends-On: org/project1@master/A' });
    await world.approve('C');
    await world.decided('C', 'dependency-not-ready');
    await world.approve('A');
    await world.approve('B');
    await world.runs('own: A B', 'own: A B', 'own: A B C');
    expect(world.queued()).toEqual(['A', 'C']);
    world.free();
    await world.leaves('C', 'SUCCESS');
    expect(await world.landed('org/project1')).toEqual(['A', 'C']);
    expect(await world.landed('org/project2')).toEqual(['B']);
  },
);
