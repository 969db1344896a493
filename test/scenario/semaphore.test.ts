/** Jobs that share a semaphore, after Zuul's test_scheduler.py (test_semaphore_one, test_semaphore_new_patchset) and config/semaphore. */
import { expect } from 'vitest';
import { BASE_JOB, checkYaml } from '../fake/layout-text.ts';
import { TENANT } from './site.ts';
import { storyOnBothStores } from './story.ts';

const layout = `${checkYaml({ notes: [] })}${BASE_JOB}
- job: {name: migrate, semaphores: [staging]}
- job: {name: unit}
- project:
    name: org/project
    check: {jobs: [migrate, unit]}
`;

storyOnBothStores(
  'a semaphore that nothing defines lets one build run at a time, and a change that leaves hands it on',
  { layout },
  async world => {
    await world.propose('A');
    await world.runs('migrate: A', 'unit: A');
    for (const topic of ['B', 'C']) await world.propose(topic);
    await world.runs('migrate: A', 'unit: A', 'unit: B', 'unit: C');
    world.release(/unit: B/);
    await world.observer.until('B to wait', () => world.item('B', 'check')?.state.name === 'semaphore');
    const { subject } = world.item('B', 'check')?.state ?? {};
    expect(subject).toMatch(/^staging, which migrate of org\/project master\/A,/);
    expect(await world.api.get(`/api/tenant/${TENANT}/semaphores`)).toMatchObject([
      {
        name: 'staging',
        global: false,
        max: 1,
        holders: { count: 1, this_tenant: [{ job_name: 'migrate' }], other_tenants: 0 },
        gatehouse: { defined: false, waiting: [{ job: 'migrate' }, { job: 'migrate' }] },
      },
    ]);
    await world.abandon('A');
    await world.runs('migrate: B', 'unit: C');
    world.free();
    const left = await world.leaves('B', 'SUCCESS', 'check');
    await world.leaves('C', 'SUCCESS', 'check');
    const explanation = await world.api.get(`/api/tenant/${TENANT}/item/${left.uuid}/explain`);
    expect(JSON.stringify(explanation)).toContain('waited for semaphore staging');
    expect(await world.api.get(`/api/tenant/${TENANT}/semaphores`)).toEqual([]);
  },
);
