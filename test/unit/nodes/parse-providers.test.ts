import { expect, test } from 'vitest';
import { configErrorText } from '../../../src/model/config-error.ts';
import { parseNodesFile } from '../../../src/nodes/parse-nodes-file.ts';

test('a provider of pods has its limits and labels', () => {
  const text = `
providers:
  - name: cluster
    driver: kubernetes
    kubeconfig: /etc/gatehouse/kubeconfig
    context: jobs
    namespace: ci
    max-pods: 20
    max-cpu: 8
    max-memory: 16384
    start-timeout: 90
    labels:
      - {name: pod-debian, type: pod, image: "registry/debian:13", cpu: 500m, memory: 512}
      - name: pod-big
        image: registry/big
        image-pull: Always
        image-pull-secrets: [registry]
        cpu: 4
        memory: 8192
        node-selector: {kind: big}
        privileged: true
        python-path: /usr/bin/python3
        variables: {ansible_shell_type: sh}
  - {name: here, driver: kubernetes, executor-zone: far, labels: [{name: x, image: y}]}
`;
  expect(parseNodesFile(text, 'nodes.yaml')).toMatchObject({
    kind: 'nodes',
    hosts: [],
    pools: [
      {
        ...{ name: 'cluster', kubeconfig: '/etc/gatehouse/kubeconfig', context: 'jobs', namespace: 'ci' },
        ...{ maxParallelJobs: 20, maxCpu: 8000, maxMemory: 16_384, startTimeout: 90_000 },
        labels: ['pod-debian', 'pod-big'],
        pods: {
          'pod-debian': { image: 'registry/debian:13', pullPolicy: 'IfNotPresent', cpu: 500, memory: 512 },
          'pod-big': {
            ...{ image: 'registry/big', pullPolicy: 'Always', pullSecrets: ['registry'], cpu: 4000 },
            ...{ memory: 8192, nodeSelector: { kind: 'big' }, privileged: true },
            ...{ pythonPath: '/usr/bin/python3', variables: { ansible_shell_type: 'sh' } },
          },
        },
      },
      {
        ...{ name: 'here', zone: 'far', maxParallelJobs: 10, startTimeout: 600_000, labels: ['x'] },
        pods: { x: { image: 'y', pullPolicy: 'IfNotPresent' } },
      },
    ],
  });
});

test('each mistake in a provider has its place and what to do', () => {
  const text = `hosts: []
providers:
  - {name: a b, driver: kubernetes, labels: [{name: x, image: y}]}
  - {name: two, labels: [{name: x, image: y}]}
  - {name: two, driver: openstack, labels: [{name: x, image: y}]}
  - {name: c, driver: kubernetes, kubeconfig: config, labels: [{name: x, image: y}]}
  - {name: d, driver: kubernetes, context: jobs, labels: [{name: x, image: y}]}
  - {name: e, driver: kubernetes, namespace: A_B, max-pods: 0, labels: [{name: x, image: y}]}
  - {name: f, driver: kubernetes, labels: [{name: x, image: y, type: namespace}]}
  - {name: g, driver: kubernetes, max-cpu: 1, labels: [{name: x, image: y}, {name: z, image: y, cpu: 2}]}
  - {name: h, driver: kubernetes, labels: [{name: x, image: y, cpu: many}, {name: x, image: "a b"}]}
  - {name: i, driver: kubernetes, label: x}
`;
  const parsed = parseNodesFile(text, 'nodes.yaml');
  const lines = parsed.kind === 'invalid' ? parsed.errors.map(configErrorText) : [];
  expect(lines.map(line => line.replace(/^nodes\.yaml:/, ''))).toEqual([
    expect.stringMatching(/^3:.*"a b" cannot be the name of a provider/),
    expect.stringMatching(/^4:.*a provider lacks "driver"; there is: kubernetes/),
    expect.stringMatching(/^5:.*driver.*one of kubernetes/),
    expect.stringMatching(/^6:.*kubeconfig is "config"; it must be an absolute path/),
    expect.stringMatching(/^7:.*context names an entry of a kubeconfig/),
    expect.stringMatching(/^8:.*namespace is "A_B"/),
    expect.stringMatching(/^8:.*max-pods.*at least 1/),
    expect.stringMatching(/^9:.*"namespace" are not supported yet; use "pod"/),
    expect.stringMatching(/^10:.*a label lacks "cpu", which its provider limits with "max-cpu"/),
    expect.stringMatching(/^10:.*cpu of a label is more than "max-cpu"/),
    expect.stringMatching(/^11:.*cpu is "many"/),
    expect.stringMatching(/^11:.*label x is defined twice/),
    expect.stringMatching(/^11:.*image is "a b"/),
    expect.stringMatching(/^12:.*a provider needs "labels"/),
    expect.stringMatching(/^12:.*"label"/),
  ]);
});

test('a provider cannot have the name of a host', () => {
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGZha2VmYWtlZmFrZWZha2VmYWtlZmFrZWZha2VmYWtl';
  const text = `
hosts: [{name: one, host-key: ${key}, private-key: /k, labels: [x]}]
providers: [{name: one, driver: kubernetes, labels: [{name: x, image: y}]}]
`;
  const parsed = parseNodesFile(text, 'nodes.yaml');
  expect(parsed.kind === 'invalid' ? parsed.errors.map(configErrorText) : []).toEqual([
    expect.stringMatching(/provider one is defined twice/),
  ]);
});
