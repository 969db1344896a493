/** Pods on a fake API server: how they come up or do not, what runs in them, and what is deleted when nothing needs it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { systemClock } from '../../../../src/lib/clock.ts';
import { parseUuid, randomIds } from '../../../../src/lib/ids.ts';
import { buildRequestCodec } from '../../../../src/model/codec/records.ts';
import { execInPod } from '../../../../src/nodes/kubernetes/exec-in-pod.ts';
import { createKubeClients, type KubeClient } from '../../../../src/nodes/kubernetes/kube-client.ts';
import { podName } from '../../../../src/nodes/kubernetes/pod-spec.ts';
import { deletePod, startPod } from '../../../../src/nodes/kubernetes/start-pod.ts';
import { sweepPods } from '../../../../src/nodes/kubernetes/sweep-pods.ts';
import { publishOperations } from '../../../../src/nodes/publish-hosts.ts';
import { openEmbeddedStore } from '../../../../src/store/embedded/server.ts';
import { storePaths } from '../../../../src/store/paths.ts';
import { RequestQueue } from '../../../../src/store/request-queue.ts';
import { type FakeApiServer, startApiServer } from '../../../fake/kubernetes/api-server.ts';
import { type Kubelet, MACHINE, startKubelet } from '../../../fake/kubernetes/kubelet.ts';
import { SILENT } from '../../../fake/silent-log.ts';

const INSTALLATION = parseUuid('f'.repeat(32));
const ids = randomIds();
const clock = systemClock();
const clients = createKubeClients();
let api: FakeApiServer;
let kubelet: Kubelet;
let client: KubeClient;
let folder: string;

beforeAll(async () => {
  api = await startApiServer();
  kubelet = await startKubelet(api.kubeconfig, 'tests');
  api.use(kubelet);
  folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-kubeconfig-'));
  await writeFile(path.join(folder, 'config'), api.kubeconfig);
  const opened = await clients.open({ kubeconfig: path.join(folder, 'config'), context: 'tests' });
  if (opened.kind === 'trouble') throw new Error(opened.reason);
  client = opened.client;
});
afterAll(async () => {
  await kubelet[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const owner = () => ({
  ...{ installation: INSTALLATION, tenant: 'acme', job: 'unit', build: ids.uuid() },
  ...{ grantedAt: clock.now(), node: 'builder' },
});
function start(image: string, startTimeout = 60_000, of = owner()) {
  const pod = { image: `registry/${image}`, pullPolicy: 'Always' } as const;
  const signal = new AbortController().signal;
  return startPod({ clock, imagePatience: 1 }, client, { startTimeout }, of, { label: image, pod }, signal);
}

test('a pod is ready on a machine, its commands have input, outputs and a status, and then it is gone', async () => {
  const of = owner();
  const started = await start('debian', 60_000, of);
  expect(started).toMatchObject({ kind: 'ready', name: podName(of), times: { machine: MACHINE } });
  // As where the first answer was lost.
  expect(await start('debian', 60_000, of)).toMatchObject({ kind: 'ready', name: podName(of) });
  const output = sink();
  const errors = sink();
  const input = Readable.from([Buffer.from('one\ntwo\n')]);
  const command = ['/bin/sh', '-c', 'wc -l; echo wrong >&2; exit 3'];
  const end = await execInPod(client, podName(of), command, { input, output, errors });
  expect([end, output.said().trim(), errors.said()]).toEqual([{ kind: 'ended', status: 3 }, '2', 'wrong\n']);
  const running = execInPod(client, podName(of), ['sleep', '1000'], { output, errors });
  await vi.waitFor(() => expect(kubelet.running(podName(of))).toBe(1), 30_000);
  api.evict(podName(of));
  expect(await running).toEqual({ kind: 'broken', reason: 'the connection to the pod broke' });
  expect(await deletePod(client, podName(of))).toBeUndefined();
  expect(await execInPod(client, podName(of), ['true'], { output, errors })).toMatchObject({
    kind: 'broken',
  });
});

test.each([
  ['invalid', 60_000, /^it did not start: InvalidImageName: it is no image$/],
  [
    'missing',
    60_000,
    /^its image cannot be fetched: ImagePullBackOff: Back-off pulling image "registry\/missing"/,
  ],
  ['huge', 300, /^it was not ready after 300ms; no machine of the cluster has room for it/],
])('a pod of the image %s is refused with the words of Kubernetes', async (image, timeout, reason) => {
  const of = owner();
  expect(await start(image, timeout, of)).toEqual({ kind: 'refused', reason: expect.stringMatching(reason) });
  await deletePod(client, podName(of));
});

test('a namespace that is full is tried until the time is over, and a server in trouble is no refusal', async () => {
  api.limitPods(0);
  expect(await start('debian', 100)).toMatchObject({
    kind: 'refused',
    reason: expect.stringMatching(/403.*exceeded quota: few/),
  });
  api.limitPods(undefined);
  api.be('down');
  expect(await start('debian')).toMatchObject({ kind: 'trouble', reason: expect.stringMatching(/503/) });
  api.be('well');
  const elsewhere = await clients.open({ kubeconfig: path.join(folder, 'config') });
  if (elsewhere.kind === 'trouble') throw new Error(elsewhere.reason);
  expect(await elsewhere.client.call('GET', '/api/v1/namespaces/default/pods')).toMatchObject({
    kind: 'trouble',
    reason: expect.stringMatching(/ECONNREFUSED/),
  });
});

test('a kubeconfig that is not there, or lacks the context, is trouble with its reason', async () => {
  const kubeconfig = path.join(folder, 'config');
  expect(await clients.open({ kubeconfig: '/nowhere' })).toMatchObject({
    reason: expect.stringMatching(/ENOENT/),
  });
  expect(await clients.open({ kubeconfig, context: 'other' })).toEqual({
    kind: 'trouble',
    reason: `kubeconfig ${kubeconfig} has no context other`,
  });
  expect(await clients.open({})).toMatchObject({ reason: expect.stringMatching(/runs in no pod/) });
});

test('a pod whose executor was killed is deleted by another one', async () => {
  const of = owner();
  await start('debian', 60_000, of);
  expect(api.pods()).toHaveLength(1);
  const server = openEmbeddedStore({ file: ':memory:' });
  const store = server.connect();
  const paths = storePaths();
  const requests = new RequestQueue({ store, path: paths.requests('build'), codec: buildRequestCodec });
  await requests.prepare();
  const pool = {
    ...{ name: 'cluster', kubeconfig: path.join(folder, 'config'), context: 'tests', maxParallelJobs: 1 },
    ...{ startTimeout: 1, labels: ['x'], pods: { x: { image: 'x', pullPolicy: 'Always' } as const } },
  };
  await store.multi(await publishOperations(store, paths, { hosts: [], pools: [pool] }));
  const stop = new AbortController();
  const deps = { store, paths, log: SILENT, installation: INSTALLATION, clients, requests, zone: {} };
  const sweeping = sweepPods(deps, stop.signal);
  await vi.waitFor(() => expect(api.pods()).toEqual([]), 30_000);
  stop.abort();
  await sweeping;
  await server.close();
});

function sink(): Writable & { said(): string } {
  const parts: Buffer[] = [];
  const writable = new Writable({
    write(part, _, done) {
      parts.push(part);
      done();
    },
  });
  return Object.assign(writable, { said: () => Buffer.concat(parts).toString('utf8') });
}
