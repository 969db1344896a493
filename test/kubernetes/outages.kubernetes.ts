/** A real API server that ends watches, forgets versions, and is killed: what waits goes on, and nothing is blamed on a pod. Not for a cluster that is given. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { execInPod, podsPath } from '../../src/nodes/kubernetes/exec-in-pod.ts';
import type { KubeClient } from '../../src/nodes/kubernetes/kube-client.ts';
import { podName } from '../../src/nodes/kubernetes/pod-spec.ts';
import { deletePod } from '../../src/nodes/kubernetes/start-pod.ts';
import { MACHINE } from '../fake/kubernetes/kubelet.ts';
import { makePod, podOwner, sink } from './make-pods.ts';
import { type Cluster, clientOf, documentedRights, openCluster } from './open-cluster.ts';

describe('an API server', () => {
  let cluster: Cluster;
  let client: KubeClient;

  beforeAll(async () => {
    cluster = await openCluster();
    client = await clientOf(await cluster.account('executor', await documentedRights()));
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  function plane() {
    if (cluster.own === undefined) throw new Error('the cluster is not our own');
    return cluster.own.plane;
  }

  async function label(disk: string): Promise<void> {
    const node = await cluster.admin.readNode({ name: MACHINE });
    const labels = { ...node.metadata?.labels, disk };
    await cluster.admin.replaceNode({
      name: MACHINE,
      body: { ...node, metadata: { ...node.metadata, labels } },
    });
  }

  /** A pod that waits for a machine with this label. */
  async function waitingFor(disk: string, startTimeout?: number) {
    const owner = podOwner();
    const started = makePod(
      client,
      { image: cluster.image, nodeSelector: { disk } },
      { owner, ...(startTimeout === undefined ? {} : { startTimeout }) },
    );
    await vi.waitFor(async () => {
      const found = await client.call('GET', `${podsPath(client)}/${podName(owner)}`);
      expect(found.kind).toBe('done');
    }, 60_000);
    return { owner, started };
  }

  test('that is killed and started while a pod waits for a machine is waited for, and the watch goes on', async () => {
    const { started } = await waitingFor('fast');
    await plane().api.kill();
    await plane().api.start();
    await label('fast');
    expect(await started).toMatchObject({ kind: 'ready', times: { machine: MACHINE } });
  });

  test('that stays away is trouble of the provider', async () => {
    const { started } = await waitingFor('faster');
    await plane().api.kill();
    expect(await started).toMatchObject({ kind: 'trouble', reason: expect.stringMatching(/ECONNREFUSED/) });
    await plane().api.start();
  });

  test('that has no store answers with trouble', async () => {
    await plane().etcd.kill();
    expect(await makePod(client, { image: cluster.image })).toMatchObject({ kind: 'trouble' });
    await plane().etcd.start();
    await vi.waitFor(
      async () => expect((await client.call('GET', podsPath(client))).kind).toBe('done'),
      60_000,
    );
    expect(await makePod(client, { image: cluster.image })).toMatchObject({ kind: 'ready' });
  });

  test('that does not know a version any more says so in the watch, and a pod that is deleted while it waits is gone', async () => {
    const list = await client.call('GET', podsPath(client));
    if (list.kind !== 'done') throw new Error('pods cannot be listed');
    const { metadata } = list.body as { readonly metadata: { readonly resourceVersion: string } };
    const { owner, started } = await waitingFor('fastest');
    await deletePod(client, podName(owner));
    expect(await started).toEqual({
      kind: 'gone',
      reason: expect.stringMatching(/^it was (deleted|taken away) before it was ready/),
    });
    const seen: unknown[] = [];
    await plane().api.kill();
    await plane().api.start();
    const query = { resourceVersion: metadata.resourceVersion };
    const { signal } = new AbortController();
    await client.watch(podsPath(client), query, signal, event => seen.push(event));
    expect(seen).toMatchObject([
      {
        type: 'ERROR',
        object: {
          kind: 'Status',
          code: 410,
          reason: 'Expired',
          message: expect.stringMatching(/^too old resource version/),
        },
      },
    ]);
  });

  test('that is killed ends commands as broken, and what they do in the pod goes on', async () => {
    const owner = podOwner();
    await makePod(client, { image: cluster.image }, { owner });
    const streams = { output: sink(), errors: sink() };
    const command = ['/bin/sh', '-c', 'echo begun; exec sleep 1000'];
    const running = execInPod(client, podName(owner), command, streams);
    await vi.waitFor(() => expect(streams.output.said()).toBe('begun\n'), 30_000);
    await plane().api.kill();
    expect(await running).toMatchObject({ kind: 'broken' });
    expect(cluster.own?.kubelet.running(podName(owner))).toBe(1);
    await plane().api.start();
    expect(await deletePod(client, podName(owner))).toBeUndefined();
    // The client of the stand-in may wait half a minute before it takes a silent watch for ended.
    await vi.waitFor(() => expect(cluster.own?.kubelet.running(podName(owner))).toBe(0), 90_000);
  });
});
