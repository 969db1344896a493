import { expect, test } from 'vitest';
import { parseNanoseconds } from '../../../../src/lib/clock.ts';
import { parseUuid } from '../../../../src/lib/ids.ts';
import { podName, podSpec } from '../../../../src/nodes/kubernetes/pod-spec.ts';
import { judgeRefusal } from '../../../../src/nodes/kubernetes/start-pod.ts';
import { leftovers } from '../../../../src/nodes/kubernetes/sweep-pods.ts';
import { judged } from '../../../fake/kubernetes/schema.ts';

const BUILD = parseUuid('0123456789abcdef0123456789abcdef');
const owner = {
  ...{ installation: parseUuid('f'.repeat(32)), tenant: 'acme corp', job: 'unit', build: BUILD },
  ...{ grantedAt: parseNanoseconds('1795000000000000000'), node: 'builder' },
};

test('a pod says whose it is, gets no keys of the cluster, and is what Kubernetes calls a pod', () => {
  const pod = {
    ...({ image: 'registry/debian:13', pullPolicy: 'Always', cpu: 500, memory: 64 } as const),
    ...({ pullSecrets: ['registry'], nodeSelector: { kind: 'big' }, privileged: true } as const),
  };
  const spec = podSpec(owner, 'debian', pod);
  expect(judged(spec)).toMatchObject({
    metadata: {
      labels: {
        ...{ 'app.kubernetes.io/managed-by': 'gatehouse', 'gatehouse/installation': 'f'.repeat(32) },
        ...{ 'gatehouse/build': BUILD, 'gatehouse/granted': '1795000000000000000' },
      },
      annotations: { 'gatehouse/tenant': 'acme corp', 'gatehouse/job': 'unit', 'gatehouse/label': 'debian' },
    },
    spec: {
      ...{ restartPolicy: 'Never', automountServiceAccountToken: false, nodeSelector: { kind: 'big' } },
      containers: [
        {
          resources: { limits: { cpu: '500m', memory: '64Mi' }, requests: { cpu: '500m', memory: '64Mi' } },
          securityContext: { privileged: true },
        },
      ],
    },
  });
  expect(Object(spec).metadata.labels).not.toHaveProperty('gatehouse/tenant');
});

test('a node has the same name again, and another one after its build got other places', () => {
  expect(podName(owner)).toBe(podName({ ...owner }));
  expect(podName(owner)).toMatch(/^gatehouse-[0-9a-f]{32}-[0-9a-f]{8}$/);
  const names = [
    owner,
    { ...owner, node: 'other' },
    { ...owner, grantedAt: parseNanoseconds('1795000000000000001') },
  ];
  expect(new Set(names.map(podName)).size).toBe(3);
});

const FORBIDDEN = 'pods "x" is forbidden:';

test.each([
  [403, 'Forbidden', `${FORBIDDEN} exceeded quota: few, requested: pods=1`, 'full'],
  [403, 'Forbidden', `${FORBIDDEN} status unknown for quota: few, resources: pods`, 'full'],
  [
    409,
    'Conflict',
    'Operation cannot be fulfilled on resourcequotas "few": the object has been modified',
    'full',
  ],
  [403, 'Forbidden', 'pods is forbidden: User "x" cannot create resource "pods" in API group ""', 'trouble'],
  [
    403,
    'Forbidden',
    `${FORBIDDEN} unable to create new content in namespace x because it is being terminated`,
    'trouble',
  ],
  [
    403,
    'Forbidden',
    `${FORBIDDEN} error looking up service account x/default: serviceaccount "default" not found`,
    'trouble',
  ],
  [403, 'Forbidden', `${FORBIDDEN} violates PodSecurity "restricted:latest"`, 'refused'],
  [403, 'Forbidden', `${FORBIDDEN} failed quota: few: must specify limits.cpu for: node`, 'refused'],
  [404, 'NotFound', 'namespaces "jobs" not found', 'trouble'],
  [409, 'AlreadyExists', 'pods "x" already exists', 'trouble'],
  [422, 'Invalid', 'Pod "x" is invalid: spec.containers[0].image: Required value', 'refused'],
])('a refusal with %d %s, "%s", is of this kind: %s', (status, reason, message, kind) => {
  expect(judgeRefusal({ status, reason, message })).toEqual({
    kind,
    reason: `the API server answered ${status}: ${message}`,
  });
});

test('a pod is left over when its build has its place no more and nothing keeps it', () => {
  const pod = (build: string, granted = '1') => ({
    metadata: { name: build, labels: { 'gatehouse/build': build, 'gatehouse/granted': granted } },
  });
  const grant = (at: string, host: string) => ({ at: parseNanoseconds(at), hosts: [{ node: 'n', host }] });
  const grants = new Map([
    ['runs', grant('1', 'cluster')],
    ['again', grant('2', 'cluster')],
  ]);
  const held = parseUuid('a'.repeat(32));
  const pods = ['runs', 'again', 'gone', held].map(build => pod(build));
  const left = leftovers(pods, grants, new Set([held]));
  expect(left.map(({ metadata }) => metadata?.name)).toEqual(['again', 'gone']);
});
