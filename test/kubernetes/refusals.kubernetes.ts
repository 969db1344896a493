/** What a real cluster does not allow: each refusal has Kubernetes' words, and is blamed on the pod or on the provider. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { execInPod, podsPath } from '../../src/nodes/kubernetes/exec-in-pod.ts';
import type { KubeClient } from '../../src/nodes/kubernetes/kube-client.ts';
import { podName, podSpec } from '../../src/nodes/kubernetes/pod-spec.ts';
import { deletePod } from '../../src/nodes/kubernetes/start-pod.ts';
import { has, isOwn } from './given-programs.ts';
import { makePod, podOwner, sink } from './make-pods.ts';
import { type Cluster, clientOf, documentedRights, openCluster } from './open-cluster.ts';

type Amounts = { readonly [resource: string]: string };

let cluster: Cluster;
let client: KubeClient;

beforeAll(async () => {
  cluster = await openCluster();
  client = await clientOf(await cluster.account('executor', await documentedRights()));
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});
afterEach(async () => {
  const { items } = await cluster.admin.listNamespacedPod({ namespace: cluster.namespace });
  for (const { metadata } of items) await deletePod(client, metadata?.name ?? '');
});

describe('a quota', () => {
  const name = 'few';
  afterEach(async () => {
    await cluster.admin.deleteNamespacedResourceQuota({ name, namespace: cluster.namespace });
  });

  /** What the quota has and allows: the controller counts, or this does in its place. */
  async function counted(hard: Amounts, used: Amounts): Promise<void> {
    const { admin, namespace } = cluster;
    const quota = await admin.readNamespacedResourceQuota({ name, namespace });
    const body = { ...quota, spec: { hard: { ...hard } } };
    const changed = await admin.replaceNamespacedResourceQuota({ name, namespace, body });
    if (has('kube-controller-manager')) return;
    const status = { hard: { ...hard }, used: { ...used } };
    await admin.replaceNamespacedResourceQuotaStatus({ name, namespace, body: { ...changed, status } });
  }

  /** What is answered to a pod that is not made, once admission has seen the quota. */
  async function untilRefused(words: RegExp): Promise<void> {
    const template = { image: cluster.image, pullPolicy: 'Always' } as const;
    const body = podSpec(podOwner(), 'tests', template);
    await vi.waitFor(async () => {
      const answer = await client.call('POST', podsPath(client), { query: { dryRun: 'All' }, body });
      expect(answer).toMatchObject({ message: expect.stringMatching(words) });
    }, 30_000);
  }

  test('that is full is waited for, and is the reason when the time is over', async () => {
    const { admin, namespace, image } = cluster;
    const spec = { hard: { pods: '0' } };
    await admin.createNamespacedResourceQuota({ namespace, body: { metadata: { name }, spec } });
    await counted({ pods: '0' }, { pods: '0' });
    await untilRefused(/exceeded quota/);
    expect(await makePod(client, { image }, { startTimeout: 1_000 })).toEqual({
      kind: 'refused',
      reason: expect.stringMatching(
        /^the API server answered 403: pods "gatehouse-\S+" is forbidden: exceeded quota: few, requested: pods=1, used: pods=0, limited: pods=0$/,
      ),
    });
    const waiting = makePod(client, { image });
    await counted({ pods: '1' }, { pods: '0' });
    expect(await waiting).toMatchObject({ kind: 'ready' });
  });

  test('for what the label does not ask is a refusal of the pod', async () => {
    const { admin, namespace, image } = cluster;
    const spec = { hard: { 'limits.cpu': '4' } };
    await admin.createNamespacedResourceQuota({ namespace, body: { metadata: { name }, spec } });
    await counted(spec.hard, { 'limits.cpu': '0' });
    await untilRefused(/failed quota/);
    expect(await makePod(client, { image })).toEqual({
      kind: 'refused',
      reason: expect.stringMatching(
        /403: pods "\S+" is forbidden: failed quota: few: must specify limits.cpu/,
      ),
    });
    expect(await makePod(client, { image, cpu: 500 })).toMatchObject({ kind: 'ready' });
  });
});

test('a limit of the namespace refuses the pod', async () => {
  const { admin, namespace, image } = cluster;
  const name = 'small';
  const spec = { limits: [{ type: 'Container', max: { cpu: '1' } }] };
  await admin.createNamespacedLimitRange({ namespace, body: { metadata: { name }, spec } });
  expect(await makePod(client, { image, cpu: 2_000 })).toEqual({
    kind: 'refused',
    reason: expect.stringMatching(
      /403: pods "\S+" is forbidden: maximum cpu usage per Container is 1, but limit is 2$/,
    ),
  });
  await admin.deleteNamespacedLimitRange({ name, namespace });
});

test('the policy of the namespace refuses a pod that may do all', async () => {
  const { admin, namespace: name, image } = cluster;
  const label = 'pod-security.kubernetes.io/enforce';
  const before = await admin.readNamespace({ name });
  const labels = { ...before.metadata?.labels, [label]: 'baseline' };
  await admin.replaceNamespace({ name, body: { ...before, metadata: { ...before.metadata, labels } } });
  expect(await makePod(client, { image, privileged: true })).toEqual({
    kind: 'refused',
    reason: expect.stringMatching(
      /403: pods "\S+" is forbidden: violates PodSecurity "baseline:latest": privileged/,
    ),
  });
  expect(await makePod(client, { image })).toMatchObject({ kind: 'ready' });
});

if (has('kube-scheduler'))
  test('a pod for which no machine has room says so in the words of the scheduler', async () => {
    const refused = await makePod(client, { image: cluster.image, cpu: 1_000_000 }, { startTimeout: 5_000 });
    expect(refused).toEqual({
      kind: 'refused',
      reason: expect.stringMatching(
        /^it was not ready after 5\.0s; no machine of the cluster has room for it; Unschedulable: 0\/\d+ nodes are available: .*Insufficient cpu/,
      ),
    });
  });

if (isOwn())
  test('an image that cannot be fetched, or is none, is refused in the words of the kubelet that stands in', async () => {
    expect(await makePod(client, { image: 'registry/missing' })).toEqual({
      kind: 'refused',
      reason: expect.stringMatching(/^its image cannot be fetched: ImagePullBackOff: Back-off pulling image/),
    });
    expect(await makePod(client, { image: 'registry/invalid' })).toEqual({
      kind: 'refused',
      reason: 'it did not start: InvalidImageName: it is no image',
    });
  });

describe('an account', () => {
  const cannot = (verb: string, resource: string) =>
    new RegExp(
      `403: pods.* is forbidden: User "system:serviceaccount:\\S+" cannot ${verb} resource "${resource}" in API group "" in the namespace "\\S+"$`,
    );

  test.each(['create', 'get', 'watch'])('that may not %s pods is trouble of the provider', async verb => {
    const less = await clientOf(await lacking('pods', verb));
    const owner = podOwner();
    expect(await makePod(less, { image: cluster.image, nodeSelector: { disk: 'none' } }, { owner })).toEqual({
      kind: 'trouble',
      reason: expect.stringMatching(cannot(verb, 'pods')),
    });
  });

  test('that may not run commands learns why', async () => {
    const owner = podOwner();
    expect(await makePod(client, { image: cluster.image }, { owner })).toMatchObject({ kind: 'ready' });
    const less = await clientOf(await lacking('pods/exec', 'get'));
    const streams = { output: sink(), errors: sink() };
    expect(await execInPod(less, podName(owner), ['true'], streams)).toEqual({
      kind: 'broken',
      reason: expect.stringMatching(
        /^the API server answered 403 to a command: pods "\S+" is forbidden: User "\S+" cannot get resource "pods\/exec"/,
      ),
    });
  });

  test('that may not list or delete them learns why', async () => {
    const unlisted = await clientOf(await lacking('pods', 'list'));
    expect(await unlisted.call('GET', podsPath(unlisted))).toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(cannot('list', 'pods').source.replace('403: ', '')),
    });
    const owner = podOwner();
    const undeleted = await clientOf(await lacking('pods', 'delete'));
    expect(await makePod(undeleted, { image: cluster.image }, { owner })).toMatchObject({ kind: 'ready' });
    expect(await deletePod(undeleted, podName(owner))).toMatch(cannot('delete', 'pods'));
  });

  test('that is not known, or is for another namespace, is trouble of the provider', async () => {
    const stranger = path.join(cluster.folder, 'stranger.json');
    const config = await cluster.account('known', []);
    const text = (await readFile(config, 'utf8')).replace(/"token":"[^"]+"/, '"token":"nonsense"');
    await writeFile(stranger, text);
    expect(await makePod(await clientOf(stranger), { image: cluster.image })).toEqual({
      kind: 'trouble',
      reason: 'the API server answered 401: Unauthorized',
    });
    const elsewhere = { ...client, namespace: 'elsewhere' };
    expect(await makePod(elsewhere, { image: cluster.image })).toEqual({
      kind: 'trouble',
      reason: expect.stringMatching(cannot('create', 'pods')),
    });
  });

  async function lacking(resource: string, verb: string): Promise<string> {
    const rules = (await documentedRights()).map(rule =>
      rule.resources?.includes(resource)
        ? { ...rule, verbs: rule.verbs.filter(each => each !== verb) }
        : rule,
    );
    return await cluster.account(`no-${verb}-${resource.replace('/', '-')}`, rules);
  }
});
