/**
 * kill -9 of an executor while its build runs on a pod, which lives on: another executor deletes it, or the same one after a restart, and the
 * build is tried again on a pod of its own. The provider has one place: a pod or a place that leaked would hold up everything behind it.
 */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { startCluster } from '../../fake/kubernetes/start-cluster.ts';
import { ON_BUBBLEWRAP, ON_SSHD } from '../../setup/provided.ts';
import { describeOnZooKeeper } from '../../setup/zookeeper.ts';
import { openCluster } from './cluster.ts';
import { CONFIG_FILES, TENANT } from './layout.ts';
import { problemsOf, untilQuiet } from './outcome.ts';
import type { ClusterProcess } from './process.ts';
import { storyCluster } from './story-cluster.ts';
import { waitFor } from './wait-for.ts';

const configFiles = (folder: string) => ({
  ...CONFIG_FILES,
  'zuul.yaml': (CONFIG_FILES['zuul.yaml'] ?? '').replace(
    'run: playbooks/unit.sh',
    'run: playbooks/unit.sh\n    nodeset: {nodes: [{name: builder, label: debian}]}',
  ),
  // It notes each pod in which it is, and ends when it may.
  'playbooks/unit.sh': `#!/bin/sh
set -eu
ssh -F "$GATEHOUSE_SSH_CONFIG" builder 'echo $POD >> ${folder}/begun; while [ ! -e ${folder}/go ]; do sleep 0.1; done'
`,
});

/** Without a sandbox the user of a job has no name, which ssh wants. */
const canRun = [inject('sshd'), inject('bubblewrap')].every(({ kind }) => kind === 'found');

const change = {
  topic: 'held',
  project: 'org/one',
  files: { 'held.txt': 'yes\n' },
  expected: 'SUCCESS',
} as const;

/** Pods in which the job was, in order, once there are so many. */
async function begun(folder: string, count: number): Promise<readonly string[]> {
  return await waitFor(`pod ${count} to run the job`, async () => {
    const file = path.join(folder, 'begun');
    const pods = existsSync(file) ? (await readFile(file, 'utf8')).split('\n').filter(Boolean) : [];
    return pods.length >= count ? pods : undefined;
  });
}

/** @param after what the site does about the executor that was killed. */
async function killed(
  open: (provider: Awaited<ReturnType<typeof startCluster>>) => ReturnType<typeof openCluster>,
  after: (victim: ClusterProcess) => Promise<void>,
): Promise<void> {
  await using provider = await startCluster({ maxPods: 1 });
  const { api, kubelet, folder } = provider;
  await using cluster = await open(provider);
  await cluster.push(change);
  const [first = ''] = await begun(folder, 1);
  const executors = cluster.ofRole('executor');
  const victim = executors.find(({ lines }) => lines.some(line => line.includes('a build begins')));
  if (victim === undefined) throw new Error('no executor has the build');
  await victim.kill();
  expect(api.pods().map(({ metadata }) => metadata.name)).toEqual([first]);
  await after(victim);

  const [, second = ''] = await begun(folder, 2);
  await waitFor('the pod that was left over to be deleted', () => api.pods().length === 1);
  expect(api.pods().map(({ metadata }) => metadata.name)).toEqual([second]);
  expect(kubelet.running(first)).toBe(0);
  await writeFile(path.join(folder, 'go'), '');
  await untilQuiet(cluster);

  expect(api.pods()).toEqual([]);
  expect(api.created()).toEqual([first, second]);
  expect(await problemsOf(cluster)).toEqual([]);
  const { api: web } = cluster;
  const builds = await web.get<readonly { readonly result: string; readonly error_detail: string | null }[]>(
    `/api/tenant/${TENANT}/builds`,
  );
  expect(builds.map(({ result }) => result)).toEqual(['SUCCESS', 'RETRY']);
  expect(await web.get(`/api/tenant/${TENANT}/nodeset-requests`)).toEqual([]);
  expect(await web.get(`/api/tenant/${TENANT}/nodes`)).toMatchObject([
    { id: 'cluster', state: 'ready', gatehouse: { in_use: 0 } },
  ]);
}

describe.skipIf(!canRun)(`a build on a pod ${ON_SSHD} ${ON_BUBBLEWRAP}`, () => {
  test('is tried again when its process was killed and runs again, and its first pod is deleted', {
    timeout: 300_000,
  }, async () => {
    await killed(
      async ({ folder, section }) => {
        const cluster = await openCluster({
          ...{ store: 'embedded', configFiles: configFiles(folder), sections: `\n${section}` },
        });
        await cluster.start();
        return cluster;
      },
      victim => victim.start(),
    );
  });

  test('runs once where its process was killed while its pod was being created', {
    timeout: 300_000,
  }, async () => {
    await using provider = await startCluster({ maxPods: 1 });
    const { api, folder, section } = provider;
    await using cluster = await openCluster({
      ...{ store: 'embedded', configFiles: configFiles(folder), sections: `\n${section}` },
    });
    await cluster.start();
    await writeFile(path.join(folder, 'go'), '');
    // The server has made it, and its maker never hears of that.
    api.be('mute');
    await cluster.push(change);
    await waitFor('a pod to be created', () => api.created().length === 1);
    const [victim] = cluster.ofRole('executor');
    await victim?.kill();
    api.be('well');
    await victim?.start();
    await untilQuiet(cluster);

    await waitFor('every pod to be deleted', () => api.pods().length === 0);
    const { api: web } = cluster;
    const builds = await web.get<
      readonly {
        readonly result: string;
        readonly error_detail: string | null;
        readonly start_time: string | null;
      }[]
    >(`/api/tenant/${TENANT}/builds`);
    expect(builds).toMatchObject([
      { result: 'SUCCESS' },
      { result: 'RETRY', error_detail: 'its executor is gone', start_time: null },
    ]);
    expect(await begun(folder, 1)).toEqual(api.created().slice(-1));
    expect(await problemsOf(cluster)).toEqual([]);
    expect(await web.get(`/api/tenant/${TENANT}/nodeset-requests`)).toEqual([]);
    expect(await web.get(`/api/tenant/${TENANT}/nodes`)).toMatchObject([
      { id: 'cluster', state: 'ready', gatehouse: { in_use: 0 } },
    ]);
  });
});

describeOnZooKeeper('a build on a pod of one of several executors', () => {
  test.skipIf(!canRun)(
    `is tried again by another one, which deletes the first pod ${ON_SSHD} ${ON_BUBBLEWRAP}`,
    { timeout: 300_000 },
    async () => {
      await using stack = new AsyncDisposableStack();
      await killed(
        async ({ folder, section }) => {
          const count = { scheduler: 1, merger: 1, web: 1 };
          const story = await storyCluster({
            ...{ count, configFiles: configFiles(folder), sections: `\n${section}` },
          });
          stack.use(story);
          return story.cluster;
        },
        async () => undefined,
      );
    },
  );
});
