/** The whole service with its pods on a real API server: a change lands by jobs with Ansible and scripts, and one waits for an API server that is away. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { podProvider } from '../fake/kubernetes/pod-provider.ts';
import { openPodsWorld, playPods, podsSpansSeen } from '../scenario/pods-story.ts';
import type { World } from '../scenario/world.ts';
import { isOwn } from './given-programs.ts';
import { type Cluster, documentedRights, openCluster } from './open-cluster.ts';

let cluster: Cluster;
let section: string;

beforeAll(async () => {
  cluster = await openCluster();
  const { folder, image } = cluster;
  const kubeconfig = await cluster.account('executor', await documentedRights());
  const nodes = path.join(folder, 'nodes.yaml');
  await writeFile(nodes, podProvider({ kubeconfig, context: 'tests', image }));
  section = `[nodes]\nconfig = ${nodes}\n`;
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

async function pods(): Promise<readonly string[]> {
  const { items } = await cluster.admin.listNamespacedPod({ namespace: cluster.namespace });
  return items.map(({ metadata }) => metadata?.name ?? '');
}

test('a change lands by jobs on pods, which are gone then, and its trace has the steps of each pod', async () => {
  await using world = await openPodsWorld(section);
  await playPods(world, /\S+/);
  expect(await pods()).toEqual([]);
  await podsSpansSeen(world);
});

if (isOwn())
  test('a build waits for an API server that was killed, and its change lands when it is back', async () => {
    const { api } = cluster.own?.plane ?? {};
    if (api === undefined) throw new Error('the cluster is not our own');
    await using world = await openPodsWorld(section, [/a host is quarantined.*ECONNREFUSED/]);
    await api.kill();
    world.free();
    await world.propose('B');
    await world.approve('B');
    await world.observer.until('the provider to be out of service', async () => {
      const [provider] = await world.api.get<readonly { readonly state: string }[]>(
        '/api/tenant/tenant-one/nodes',
      );
      return provider?.state === 'failed';
    });
    await api.start();
    await world.leaves('B', 'SUCCESS');
    expect(await resultsOf(world)).toEqual({ deploy: ['SUCCESS'], unit: ['SUCCESS'] });
    expect(await pods()).toEqual([]);
    await podsSpansSeen(world);
  });

/** Of the jobs with a vote. */
async function resultsOf(world: World): Promise<{ readonly [job: string]: readonly string[] }> {
  const builds = await world.api.get<readonly { readonly job_name: string; readonly result: string }[]>(
    '/api/tenant/tenant-one/builds',
  );
  const voting = builds.filter(({ job_name: job }) => ['deploy', 'unit'].includes(job));
  return Object.fromEntries(
    [...Map.groupBy(voting, ({ job_name: job }) => job)].map(([job, all]) => [
      job,
      all.map(({ result }) => result),
    ]),
  );
}
