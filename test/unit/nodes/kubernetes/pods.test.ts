/** Pods on a fake API server: how they come up or do not, what runs in them, and what is deleted when nothing needs it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { systemClock } from '../../../../src/lib/clock.ts';
import { randomIds } from '../../../../src/lib/ids.ts';
import { execInPod } from '../../../../src/nodes/kubernetes/exec-in-pod.ts';
import { createKubeClients, type KubeClient } from '../../../../src/nodes/kubernetes/kube-client.ts';
import { podName } from '../../../../src/nodes/kubernetes/pod-spec.ts';
import { deletePod, startPod } from '../../../../src/nodes/kubernetes/start-pod.ts';
import { type FakeApiServer, startApiServer } from '../../../fake/kubernetes/api-server.ts';
import { type Kubelet, MACHINE, startKubelet } from '../../../fake/kubernetes/kubelet.ts';
import { INSTALLATION, openSweeper } from '../../../fake/kubernetes/sweeper.ts';
import { SILENT } from '../../../fake/silent-log.ts';

const MIB = 1024 * 1024;
const ids = randomIds();
const clock = systemClock();
const clients = createKubeClients();
let api: FakeApiServer;
let kubelet: Kubelet;
let client: KubeClient;
let folder: string;

beforeAll(async () => {
  api = await startApiServer();
  kubelet = await startKubelet(api.kubeconfig, 'tests', { bindsIn: 'jobs' });
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
  expect(await running).toEqual({ kind: 'ended', status: 137 });
  expect(await deletePod(client, podName(of))).toBeUndefined();
});

test('a command that is refused, or that no pod is there for, has the words of Kubernetes; one that is cut off is broken', async () => {
  const of = owner();
  const name = podName(of);
  await start('debian', 60_000, of);
  const streams = { output: sink(), errors: sink() };
  const answered = (text: string) => ({ kind: 'broken', reason: `the API server answered ${text}` });
  expect(await execInPod(client, 'none', ['true'], streams)).toEqual(
    answered('404 to a command: pods "none" not found'),
  );
  api.forbid('exec');
  expect(await execInPod(client, name, ['true'], streams)).toMatchObject({
    reason: expect.stringMatching(
      /^the API server answered 403 to a command: .*cannot create resource "pods\/exec"/,
    ),
  });
  api.forbid(undefined);
  const running = execInPod(client, name, ['sleep', '1000'], streams);
  await vi.waitFor(() => expect(kubelet.running(name)).toBe(1), 30_000);
  api.cut();
  expect(await running).toEqual({ kind: 'broken', reason: 'the connection to the pod broke' });
  await deletePod(client, name);
});

test('a command that reads its input late is waited for, and a slow reader of its output is not left with listeners', async () => {
  const of = owner();
  const name = podName(of);
  await start('debian', 60_000, of);
  let hasBegun = false;
  const output = new Writable({
    highWaterMark: 1,
    write(_, __, done) {
      hasBegun = true;
      setImmediate(done);
    },
  });
  const input = Readable.from(Array.from({ length: 8 }, () => Buffer.alloc(MIB)));
  const command = ['/bin/sh', '-c', 'echo begun; while [ ! -e go ]; do sleep 0.02; done; exec cat'];
  vi.useFakeTimers({ toFake: ['setInterval'] });
  const running = execInPod(client, name, command, { input, output, errors: sink() });
  await vi.waitFor(() => expect(hasBegun).toBe(true), 30_000);
  // By then the first piece of the other one's input is under way.
  const passed = { kind: 'ended', status: 0 };
  expect(await execInPod(client, name, ['true'], { output: sink(), errors: sink() })).toEqual(passed);
  for (let beats = 0; beats < 4; beats++) vi.advanceTimersByTime(30_000);
  vi.useRealTimers();
  const touched = { output: sink(), errors: sink() };
  expect(await execInPod(client, name, ['touch', 'go'], touched)).toEqual({ kind: 'ended', status: 0 });
  expect(await running).toEqual({ kind: 'ended', status: 0 });
  expect(output.listenerCount('close')).toBeLessThan(5);
  await deletePod(client, name);
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

test('a pod that is deleted or evicted before it is ready is no refusal of such a pod', async () => {
  const gone = async (act: (name: string) => Promise<void> | void) => {
    const of = owner();
    const waiting = start('huge', 60_000, of);
    await vi.waitFor(() => expect(api.pods()[0]?.status.conditions).toHaveLength(1), 30_000);
    await act(podName(of));
    const seen = await waiting;
    await deletePod(client, podName(of));
    return seen;
  };
  expect(await gone(api.evict)).toEqual({ kind: 'gone', reason: 'it was deleted before it was ready' });
  const evicted = { phase: 'Failed', reason: 'Evicted', message: 'low on memory' };
  expect(await gone(name => api.setStatus(name, evicted))).toEqual({
    kind: 'gone',
    reason: 'it was taken away before it was ready: Evicted: low on memory',
  });
});

test('a server that was restarted, and does not know all rights yet, is asked again for a pod that waits', async () => {
  const of = owner();
  const waiting = start('huge', 60_000, of);
  await vi.waitFor(() => expect(api.pods()[0]?.status.conditions).toHaveLength(1), 30_000);
  api.be('starting');
  api.cut();
  const isAsked = () => expect(api.refused().some(each => each.endsWith(podName(of)))).toBe(true);
  await vi.waitFor(isAsked, 30_000);
  api.be('well');
  api.evict(podName(of));
  expect(await waiting).toEqual({
    kind: 'gone',
    reason: 'it was deleted before it was ready',
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
  const warnings: unknown[] = [];
  const log = { ...SILENT, warn: (facts: unknown) => warnings.push(facts) };
  await using sweeper = await openSweeper(
    clients,
    { kubeconfig: path.join(folder, 'config'), context: 'tests' },
    log,
  );
  // Nothing else would say that pods are left over.
  api.forbid('list');
  await sweeper.sweepUntil(() =>
    expect(warnings).toEqual([
      { provider: 'cluster', reason: expect.stringMatching(/^403: .*cannot list resource "pods"/) },
    ]),
  );
  api.forbid(undefined);
  await sweeper.sweepUntil(() => expect(api.pods()).toEqual([]));
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
