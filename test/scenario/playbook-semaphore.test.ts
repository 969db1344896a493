/** Playbooks that share a semaphore, after Zuul's test_v3.py (TestSemaphore, playbook semaphores): only they wait, not their jobs. */
import { expect, vi } from 'vitest';
import { BASE_JOB, checkYaml } from '../fake/layout-text.ts';
import { TENANT } from './site.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

const layout = `${checkYaml({ notes: [] })}${BASE_JOB}
- semaphore: {name: staging}
- job:
    name: migrate
    run:
      - name: playbooks/job.sh
        semaphores: staging
- project:
    name: org/project
    check: {jobs: [migrate]}
`;

const holders = async (world: World) =>
  (
    await world.api.get<readonly { readonly gatehouse: { readonly holders: readonly object[] } }[]>(
      `/api/tenant/${TENANT}/semaphores`,
    )
  ).flatMap(({ gatehouse }) => gatehouse.holders);

const metrics = async (world: World) => (await fetch(`${world.service.url}/metrics`)).text();

/** The log of its build says so. */
async function isWaiting(world: World, topic: string): Promise<void> {
  await vi.waitUntil(
    async () => {
      const build = world.item(topic, 'check')?.jobs[0]?.build ?? null;
      if (build === null) return false;
      const log = await world.api.text(`/api/tenant/${TENANT}/build/${build}/log`).catch(() => '');
      return log.includes('RUN WAITS for semaphores');
    },
    { timeout: 60_000 },
  );
}

/** Builds of which the script runs. */
const begun = (world: World) => world.stage.builds.map(({ changes }) => changes);

story(
  'of two builds with a playbook semaphore one waits within its build, and goes on when the other frees it',
  { layout },
  async world => {
    await world.propose('A');
    await world.observer.until('A to begin', () => begun(world).includes('A'));
    await world.propose('B');
    await isWaiting(world, 'B');
    expect(begun(world)).toEqual(['A']);
    expect(await holders(world)).toMatchObject([{ job: 'migrate', playbook: 'playbooks/job.sh' }]);
    const held = /^gatehouse_semaphore_playbook_holders\{.*semaphore="staging".*\} 1$/m;
    expect(await metrics(world)).toMatch(held);
    world.release(/migrate: A/);
    await world.leaves('A', 'SUCCESS', 'check');
    await world.observer.until('B to begin', () => begun(world).includes('B'));
    world.free();
    const { uuid } = await world.leaves('B', 'SUCCESS', 'check');
    const wait = await world.observer.until('the span of the wait', () =>
      world.sink.spans.find(({ traceId, name }) => traceId === uuid && name === 'SemaphoreWait staging'),
    );
    const above = world.sink.spans.find(({ spanId }) => spanId === wait.parentSpanId);
    expect(above?.name).toBe('Playbook playbooks/job.sh');
    expect(await holders(world)).toEqual([]);
    expect(await metrics(world)).not.toMatch(held);
    const builds = await world.api.get<readonly { readonly uuid: string }[]>(`/api/tenant/${TENANT}/builds`);
    const log = await world.api.text(`/api/tenant/${TENANT}/build/${builds[0]?.uuid}/log`);
    expect(log).toMatch(
      /RUN WAITS for semaphores of playbooks\/job\.sh: staging, which migrate of .*A.* holds/,
    );
  },
);

story(
  'a build that is cancelled while its playbook waits, or holds, leaves nothing held',
  { layout },
  async world => {
    await world.propose('A');
    await world.observer.until('A to begin', () => begun(world).includes('A'));
    await world.propose('B');
    await isWaiting(world, 'B');
    await world.abandon('B');
    await world.propose('C');
    await isWaiting(world, 'C');
    await world.abandon('A');
    await world.observer.until('C to begin', () => begun(world).includes('C'));
    world.free();
    await world.leaves('C', 'SUCCESS', 'check');
    expect(await holders(world)).toEqual([]);
  },
);
