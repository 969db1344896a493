/** The fake API server of `npm test` answers as a real one does: both are asked the same, and what they answer is compared. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { execInPod, podsPath } from '../../src/nodes/kubernetes/exec-in-pod.ts';
import type { KubeAnswer, KubeClient } from '../../src/nodes/kubernetes/kube-client.ts';
import type { SeenPod } from '../../src/nodes/kubernetes/pod-progress.ts';
import { podName, podSpec } from '../../src/nodes/kubernetes/pod-spec.ts';
import { type FakeCluster, startCluster } from '../fake/kubernetes/start-cluster.ts';
import { has } from './given-programs.ts';
import { makePod, podOwner, sink } from './make-pods.ts';
import { type Cluster, clientOf, documentedRights, openCluster } from './open-cluster.ts';

let cluster: Cluster;
let fake: FakeCluster;
let both: { readonly real: KubeClient; readonly fake: KubeClient };

beforeAll(async () => {
  [cluster, fake] = await Promise.all([openCluster(), startCluster()]);
  const real = await clientOf(await cluster.account('executor', await documentedRights()));
  both = { real, fake: await clientOf(path.join(fake.folder, 'kubeconfig'), 'tests') };
});
afterAll(async () => {
  await fake?.[Symbol.asyncDispose]();
  await cluster?.[Symbol.asyncDispose]();
});

const owner = podOwner();
const name = podName(owner);
/** Bound to no machine: nothing happens to it. */
const template = { image: 'registry/huge', pullPolicy: 'Always', nodeSelector: { disk: 'none' } } as const;
const body = podSpec(owner, 'tests', template);
const deletion = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 };
const wrong = { ...deletion, preconditions: { uid: 'another' } };

/** Asks both, and leaves out of what they answer what is another each time. */
async function ask(
  question: (client: KubeClient) => Promise<unknown>,
): Promise<{ real: unknown; fake: unknown }> {
  const answers = [both.real, both.fake].map(async client => plain(client, await question(client)));
  const [real, ofFake] = await Promise.all(answers);
  return { real, fake: ofFake };
}

function plain({ namespace }: KubeClient, answer: unknown): unknown {
  const text = JSON.stringify(answer)
    .replaceAll(namespace, '<namespace>')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>')
    .replace(/User \\"[^"]+"/g, 'User <user>')
    .replace(/version: \d+ \(\d+\)/g, 'version: <version>');
  return JSON.parse(text);
}

/** What a caller here reads of an answer. */
function shape(answer: KubeAnswer): unknown {
  if (answer.kind !== 'done') return answer;
  const { kind, metadata, status, spec, items } = Object(answer.body) as SeenPod & {
    readonly kind: string;
    readonly items?: readonly SeenPod[];
  };
  return {
    ...{ kind, phase: status?.phase, machine: spec?.nodeName, labels: metadata?.labels },
    hasVersion: Number(metadata?.resourceVersion) > 0,
    continues: (metadata as { continue?: string } | undefined)?.continue !== undefined,
    ...(items === undefined ? {} : { items: items.map(each => each.metadata?.name) }),
  };
}

const pod = (client: KubeClient, which = name) => `${podsPath(client)}/${which}`;

test.each<[string, (client: KubeClient) => Promise<KubeAnswer>]>([
  ['a pod that is not there', client => client.call('GET', pod(client, 'none'))],
  [
    'the deletion of one that is not there',
    client => client.call('DELETE', pod(client, 'none'), { body: deletion }),
  ],
  [
    'a creation in another namespace',
    client => client.call('POST', podsPath({ namespace: 'elsewhere' }), { body }),
  ],
  ['a creation', client => client.call('POST', podsPath(client), { body })],
  ['the same creation again', client => client.call('POST', podsPath(client), { body })],
  ['the pod', client => client.call('GET', pod(client))],
  ['the list', client => client.call('GET', podsPath(client), { query: { limit: 10 } })],
  [
    'the list with a label that no pod has',
    client =>
      client.call('GET', podsPath(client), { query: { labelSelector: 'gatehouse/installation=other' } }),
  ],
  ['the deletion of another one of the name', client => client.call('DELETE', pod(client), { body: wrong })],
  ['a deletion', client => client.call('DELETE', pod(client), { body: deletion })],
  ['the pod that is deleted', client => client.call('GET', pod(client))],
])('%s is answered alike', async (_, question) => {
  const { real, fake: ofFake } = await ask(async client => shape(await question(client)));
  expect(ofFake).toEqual(real);
});

test('a wrong token is answered alike', async () => {
  const file = path.join(cluster.folder, 'wrong.json');
  const stranger = async (client: KubeClient) => {
    const { url } = await client.socketTo('');
    const server = url.replace('wss:', 'https:');
    await writeFile(
      file,
      JSON.stringify({
        ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'one' },
        clusters: [{ name: 'one', cluster: { server, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'one', user: { token: 'nonsense' } }],
        contexts: [{ name: 'one', context: { cluster: 'one', user: 'one', namespace: client.namespace } }],
      }),
    );
    return (await clientOf(file)).call('GET', podsPath(client));
  };
  const real = await stranger(both.real);
  expect(await stranger(both.fake)).toEqual(real);
});

test('pages of a list end alike', async () => {
  const owners = Array.from({ length: 3 }, podOwner);
  const { real, fake: ofFake } = await ask(async client => {
    for (const each of owners)
      await client.call('POST', podsPath(client), { body: podSpec(each, 'tests', template) });
    const pages: number[] = [];
    let next = '';
    do {
      const query = { limit: 2, ...(next === '' ? {} : { continue: next }) };
      const answer = await client.call('GET', podsPath(client), { query });
      const { items, metadata } = Object(answer.kind === 'done' ? answer.body : undefined);
      pages.push(items.length);
      next = metadata.continue ?? '';
    } while (next !== '');
    for (const each of owners) await client.call('DELETE', pod(client, podName(each)), { body: deletion });
    return pages;
  });
  expect(real).toEqual([2, 1]);
  expect(ofFake).toEqual(real);
});

test('a watch begins after its version, and ends with an error for one that is forgotten', async () => {
  const seenFrom = async (client: KubeClient, resourceVersion: string) => {
    const enough = new AbortController();
    const seen: unknown[] = [];
    const query = { fieldSelector: `metadata.name=${name}`, resourceVersion };
    await client.watch(podsPath(client), query, enough.signal, ({ type, object }) => {
      const { kind, code, reason, message } = Object(object);
      seen.push({ type, kind, code, reason, message });
      if (type === 'DELETED') enough.abort();
    });
    // The scheduler may say before that no machine fits.
    return seen.at(-1);
  };
  const made = async (client: KubeClient) => {
    const answer = await client.call('POST', podsPath(client), { body });
    const { metadata } = Object(answer.kind === 'done' ? answer.body : undefined) as SeenPod;
    await client.call('DELETE', pod(client), { body: deletion });
    return metadata?.resourceVersion ?? '';
  };
  const versions = new Map([both.real, both.fake].map(client => [client, made(client)]));
  const from = async (client: KubeClient) => seenFrom(client, (await versions.get(client)) ?? '');
  const known = await ask(from);
  expect(known).toMatchObject({ real: { type: 'DELETED' }, fake: known.real });
  if (cluster.own === undefined) return;
  await cluster.own.plane.api.kill();
  await cluster.own.plane.api.start();
  fake.api.forget();
  const forgotten = await ask(from);
  expect(forgotten).toMatchObject({ real: { type: 'ERROR' }, fake: forgotten.real });
});

test('a quota is answered alike', async () => {
  const { admin, namespace } = cluster;
  await admin.createNamespacedResourceQuota({
    namespace,
    body: { metadata: { name: 'few' }, spec: { hard: { pods: '0' } } },
  });
  const counted = async () => {
    const quota = await admin.readNamespacedResourceQuota({ name: 'few', namespace });
    if (has('kube-controller-manager')) return expect(quota.status?.used).toEqual({ pods: '0' });
    const status = { hard: { pods: '0' }, used: { pods: '0' } };
    await admin.replaceNamespacedResourceQuotaStatus({ name: 'few', namespace, body: { ...quota, status } });
  };
  await vi.waitFor(counted, 30_000);
  fake.api.limitPods(0);
  const { real, fake: ofFake } = await ask(client => client.call('POST', podsPath(client), { body }));
  expect(ofFake).toEqual(real);
  await admin.deleteNamespacedResourceQuota({ name: 'few', namespace });
  fake.api.limitPods(undefined);
});

test('commands end alike', async () => {
  const run = async (client: KubeClient, which: string, command: readonly string[]) => {
    const [output, errors] = [sink(), sink()];
    const end = await execInPod(client, which, command, { output, errors });
    return { end, output: output.said(), errors: errors.said() };
  };
  const { real, fake: ofFake } = await ask(async client => {
    const running = podOwner();
    await makePod(client, { image: cluster.image }, { owner: running });
    await client.call('POST', podsPath(client), { body });
    const [one, none] = [podName(running), name];
    const ends = [
      await run(client, one, ['/bin/sh', '-c', 'echo out; echo err >&2; exit 5']),
      await run(client, one, ['/bin/sh', '-c', 'kill -9 $$']),
      await run(client, 'none', ['true']),
      await run(client, none, ['true']),
    ];
    for (const each of [one, none]) await client.call('DELETE', pod(client, each), { body: deletion });
    return ends;
  });
  expect(ofFake).toEqual(real);
});
