/** Pods and commands in them on a real API server, which has the streams from a kubelet by Kubernetes' own protocol. */
import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { execInPod, podsPath } from '../../src/nodes/kubernetes/exec-in-pod.ts';
import { createKubeClients, type KubeClient } from '../../src/nodes/kubernetes/kube-client.ts';
import { podName, podSpec } from '../../src/nodes/kubernetes/pod-spec.ts';
import { deletePod } from '../../src/nodes/kubernetes/start-pod.ts';
import { openSweeper } from '../fake/kubernetes/sweeper.ts';
import { SILENT } from '../fake/silent-log.ts';
import { makePod, podOwner, sink } from './make-pods.ts';
import { type Cluster, clientOf, documentedRights, openCluster } from './open-cluster.ts';

const MIB = 1024 * 1024;
const PASSED = { kind: 'ended', status: 0 };

let cluster: Cluster;
let client: KubeClient;
/** Of a pod that all tests use. */
let pod: string;

beforeAll(async () => {
  cluster = await openCluster();
  client = await clientOf(await cluster.account('executor', await documentedRights()));
  const started = await makePod(client, { image: cluster.image });
  if (started.kind !== 'ready') throw new Error(started.reason);
  pod = started.name;
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

test('a pod is scheduled and ready, and a creation whose answer was lost finds it again', async () => {
  const owner = podOwner();
  const started = await makePod(client, { image: cluster.image, cpu: 100, memory: 64 }, { owner });
  expect(started).toMatchObject({ kind: 'ready', name: podName(owner) });
  if (started.kind !== 'ready') return;
  const { createdAt, scheduledAt, readyAt, machine } = started.times;
  expect([createdAt <= scheduledAt, scheduledAt <= readyAt]).toEqual([true, true]);
  expect(machine).not.toBe('');
  expect(await makePod(client, { image: cluster.image }, { owner })).toMatchObject({ kind: 'ready' });
  const seen = await cluster.admin.readNamespacedPod({ name: started.name, namespace: cluster.namespace });
  expect(seen.spec?.containers[0]?.resources).toEqual({
    requests: { cpu: '100m', memory: '64Mi' },
    limits: { cpu: '100m', memory: '64Mi' },
  });
  expect(await deletePod(client, started.name)).toBeUndefined();
});

test('what is asked of Kubernetes has no field that it does not know', async () => {
  const template = {
    ...({ image: cluster.image, pullPolicy: 'Always', cpu: 10, memory: 8, privileged: true } as const),
    ...{ nodeSelector: { disk: 'fast' }, pullSecrets: ['registry'] },
  };
  const query = { fieldValidation: 'Strict', dryRun: 'All' };
  const body = podSpec(podOwner(), 'tests', template);
  expect(await client.call('POST', podsPath(client), { query, body })).toMatchObject({ kind: 'done' });
});

test('a command has its input to the end of it, both outputs, and its status', async () => {
  const [output, errors] = [sink(), sink()];
  const input = Readable.from([Buffer.from('one\ntwo\n')]);
  const command = ['/bin/sh', '-c', 'wc -l; echo wrong >&2; exit 3'];
  const end = await execInPod(client, pod, command, { input, output, errors });
  expect([end, output.said().trim(), errors.said()]).toEqual([{ kind: 'ended', status: 3 }, '2', 'wrong\n']);
});

test('a command without input, one that reads none, and one that a signal ends have their status', async () => {
  const [output, errors] = [sink(), sink()];
  expect(await execInPod(client, pod, ['cat'], { output, errors })).toEqual(PASSED);
  expect(await execInPod(client, pod, ['true'], { input: Readable.from([]), output, errors })).toEqual(
    PASSED,
  );
  const killed = ['/bin/sh', '-c', 'kill -9 $$'];
  expect(await execInPod(client, pod, killed, { output, errors })).toEqual({ kind: 'ended', status: 137 });
});

test('a command that ends before it has read its input has its status, all but always', async () => {
  const ends: string[] = [];
  for (let times = 0; times < 20; times++) {
    const input = Readable.from(endless(MIB));
    const end = await execInPod(client, pod, ['head', '-c1'], { input, output: sink(), errors: sink() });
    ends.push(end.kind === 'ended' ? String(end.status) : end.reason);
  }
  // The end may come while a piece is written.
  expect(ends.filter(end => end === '0').length).toBeGreaterThan(16);
});

test('a command that reads its input after more than a minute is waited for', async () => {
  const input = Readable.from(Array.from({ length: 8 }, () => Buffer.alloc(MIB)));
  const output = sink();
  const command = ['/bin/sh', '-c', 'sleep 65; exec wc -c'];
  expect(await execInPod(client, pod, command, { input, output, errors: sink() })).toEqual(PASSED);
  expect(output.said().trim()).toBe(String(8 * MIB));
});

test('64 MiB go both ways unchanged, to a reader that is slow', async () => {
  const parts = Array.from({ length: 64 }, () => randomBytes(MIB));
  const seen = createHash('sha256');
  let size = 0;
  const output = new Writable({
    highWaterMark: 1024,
    write(part, _, done) {
      seen.update(part);
      size += part.length;
      void setImmediate().then(() => done());
    },
  });
  const end = await execInPod(client, pod, ['cat'], { input: Readable.from(parts), output, errors: sink() });
  expect([end, size]).toEqual([{ kind: 'ended', status: 0 }, 64 * MIB]);
  expect(seen.digest('hex')).toBe(createHash('sha256').update(Buffer.concat(parts)).digest('hex'));
});

test('a command on a terminal has one output', async () => {
  const [output, errors] = [sink(), sink()];
  const command = ['/bin/sh', '-c', 'test -t 0 && test -t 1 && echo yes >&2'];
  const end = await execInPod(client, pod, command, {
    ...{ input: Readable.from([]), output, errors, terminal: true },
  });
  expect([end, output.said().trim(), errors.said()]).toEqual([{ kind: 'ended', status: 0 }, 'yes', '']);
});

test('a program that is not there, and a pod that is not, are reported in the words of Kubernetes', async () => {
  const streams = { output: sink(), errors: sink() };
  expect(await execInPod(client, pod, ['/nowhere'], streams)).toEqual({
    kind: 'broken',
    reason: expect.stringMatching(/\/nowhere/),
  });
  expect(await execInPod(client, 'none', ['true'], streams)).toEqual({
    kind: 'broken',
    reason: 'the API server answered 404 to a command: pods "none" not found',
  });
});

test('a pod that is deleted ends its commands; to delete it twice is no failure, and another pod of its name stays', async () => {
  const owner = podOwner();
  const name = podName(owner);
  await makePod(client, { image: cluster.image }, { owner });
  const streams = { output: sink(), errors: sink() };
  const running = execInPod(client, name, ['/bin/sh', '-c', 'echo begun; exec sleep 1000'], streams);
  await vi.waitFor(() => expect(streams.output.said()).toBe('begun\n'), 30_000);
  const before = await cluster.admin.readNamespacedPod({ name, namespace: cluster.namespace });
  expect(await deletePod(client, name, 'another')).toBeUndefined();
  expect((await client.call('GET', `${podsPath(client)}/${name}`)).kind).toBe('done');
  expect(await deletePod(client, name, before.metadata?.uid)).toBeUndefined();
  expect(await running).toEqual({ kind: 'ended', status: 137 });
  expect(await deletePod(client, name)).toBeUndefined();
  expect(await client.call('GET', `${podsPath(client)}/${name}`)).toMatchObject({ status: 404 });
});

test('pods that no build has any more are swept, and others of the namespace are not', async () => {
  const { admin, namespace, folder, image } = cluster;
  const owners = Array.from({ length: 3 }, podOwner);
  await Promise.all(owners.map(owner => makePod(client, { image }, { owner })));
  const spec = { containers: [{ name: 'other', image }], nodeSelector: { disk: 'none' } };
  await admin.createNamespacedPod({ namespace, body: { metadata: { name: 'other' }, spec } });
  const place = { kubeconfig: path.join(folder, 'executor.json'), context: 'tests' };
  await using sweeper = await openSweeper(createKubeClients(), place, SILENT);
  await sweeper.sweepUntil(async () => {
    const { items } = await admin.listNamespacedPod({ namespace });
    expect(items.map(({ metadata }) => metadata?.name)).toEqual(['other']);
  });
});

async function* endless(size: number): AsyncGenerator<Buffer> {
  for (;;) {
    yield Buffer.alloc(size);
    await setImmediate();
  }
}
