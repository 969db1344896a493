/** What the chart makes of values: objects that Kubernetes takes, and settings that Gatehouse takes. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { KubeConfig, KubernetesObjectApi } from '@kubernetes/client-node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseTenantFile } from '../../src/layout/tenant/tenant-file.ts';
import { showOptionProblem } from '../../src/lib/option-reader.ts';
import { parseNodesFile } from '../../src/nodes/parse-nodes-file.ts';
import { parseSettings } from '../../src/settings/parse-settings.ts';
import { COMPONENT_KINDS } from '../../src/store/paths.ts';
import { helm, type KubernetesObject, type NamedEntry, rendered, valuesOf } from './find-helm.ts';
import { createJudge, readDefinitions, writeSchemas } from './kubernetes-types.ts';

const {
  KUBERNETES_OPENAPI: openapi,
  KUBECONFORM_BIN: kubeconform,
  HELM_KUBECONFIG: kubeconfig,
} = process.env;
const CASES = ['small', 'plain', 'distributed'];
const WORKLOADS = ['StatefulSet', 'Deployment'];

const named = (objects: readonly KubernetesObject[], kind: string, name: string) => {
  const found = objects.find(each => each.kind === kind && each.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
};
const workloads = (objects: readonly KubernetesObject[]) =>
  objects.filter(({ kind }) => WORKLOADS.includes(kind));

/** Each variable that the pods may have has a value. */
function settingsOf(objects: readonly KubernetesObject[]) {
  const { data } = named(objects, 'ConfigMap', 'gate-gatehouse');
  const variables = [...data['gatehouse.conf'].matchAll(/%\((\w+)\)s/g)].map(([, name]) => name);
  const environment = Object.fromEntries(variables.map(name => [name, 'x'.repeat(40)]));
  const parsed = parseSettings({
    content: Buffer.from(data['gatehouse.conf']),
    file: 'gatehouse.conf',
    directory: '/etc/gatehouse',
    environment: { ...environment, GATEHOUSE_POD_IP: '10.0.0.7', CHAT_WEBHOOK: 'https://chat.example.org/x' },
  });
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.map(showOptionProblem).join('\n'));
  return { ...parsed, data, variables };
}

describe.each(CASES)('with the values %s', name => {
  test('Helm has nothing to say against it', async () => {
    expect(await helm('lint', ...valuesOf(name))).toContain('1 chart(s) linted, 0 chart(s) failed');
  });

  test('gatehouse.conf, tenants.yaml and nodes.yaml are taken', async () => {
    const { settings, warnings, secretsInFile, data } = settingsOf(await rendered(...valuesOf(name)));
    expect([...warnings, ...secretsInFile].map(showOptionProblem)).toEqual([]);
    expect(settings.scheduler).toMatchObject({
      stateDir: '/var/lib/gatehouse',
      tenantConfig: '/etc/gatehouse/tenants.yaml',
    });
    expect(settings.web).toMatchObject({ listenAddress: '0.0.0.0', port: 9000 });
    const hosts = new Map(settings.connections.map(({ connection }) => [connection, 'git.example.org']));
    const tenants = parseTenantFile(data['tenants.yaml'], 'tenants.yaml', hosts);
    expect(tenants).toMatchObject({ kind: 'tenants', warnings: [] });
    if (data['nodes.yaml'] !== undefined)
      expect(parseNodesFile(data['nodes.yaml'], 'nodes.yaml')).toMatchObject({ kind: 'nodes' });
  });

  test('each pod starts components that there are, at the ports that probes and services ask', async () => {
    const objects = await rendered(...valuesOf(name));
    const { settings } = settingsOf(objects);
    for (const { spec, metadata } of workloads(objects)) {
      const [container] = spec.template.spec.containers;
      const components = container.args.slice(1, -2);
      expect(container.args[0]).toBe('start');
      for (const each of components) expect(COMPONENT_KINDS).toContain(each);
      const ports = new Map(container.ports.map((port: NamedEntry) => [port.name, port.containerPort]));
      expect(ports.get('metrics')).toBe(settings.metrics?.port);
      if (components.length === 0 || components.includes('web'))
        expect(ports.get('http')).toBe(settings.web.port);
      for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'])
        expect([...ports.keys()], metadata.name).toContain(container[probe].httpGet.port);
      const mounts = container.volumeMounts.map(({ name }: NamedEntry) => name);
      const volumes = [
        ...spec.template.spec.volumes,
        ...(spec.volumeClaimTemplates ?? []).map(({ metadata }: KubernetesObject) => metadata),
      ];
      expect(mounts.toSorted()).toEqual(volumes.map(({ name }: NamedEntry) => name).toSorted());
    }
  });

  test('services, budgets and policies select pods that there are', async () => {
    const objects = await rendered(...valuesOf(name));
    const pods = workloads(objects).map(({ spec }) => spec.template.metadata.labels);
    const selectors = objects.flatMap(({ kind, spec }) =>
      kind === 'Service'
        ? [spec.selector]
        : kind === 'PodDisruptionBudget'
          ? [spec.selector.matchLabels]
          : kind === 'NetworkPolicy'
            ? [spec.podSelector.matchLabels]
            : [],
    );
    expect(selectors.length).toBeGreaterThan(1);
    for (const selector of selectors)
      expect(
        pods.filter(labels => Object.entries(selector).every(([key, value]) => labels[key] === value)),
      ).not.toEqual([]);
  });

  test.skipIf(openapi === undefined)(
    'Kubernetes’ own description has nothing to say against it',
    async () => {
      const judge = createJudge(readDefinitions(openapi ?? ''));
      const objects = (await rendered(...valuesOf(name))).filter(({ kind }) => kind !== 'ServiceMonitor');
      expect(objects.map(each => [each.kind, each.metadata.name, judge(each)])).toEqual(
        objects.map(each => [each.kind, each.metadata.name, '']),
      );
    },
  );

  test.skipIf(openapi === undefined || kubeconform === undefined)('kubeconform agrees', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-helm-'));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const location = await writeSchemas(readDefinitions(openapi ?? ''), directory);
    const file = path.join(directory, 'objects.yaml');
    await writeFile(file, await helm('template', ...valuesOf(name)));
    const options = [
      '-strict',
      '-summary',
      '-output',
      'json',
      '-skip',
      'ServiceMonitor',
      '-schema-location',
      location,
    ];
    const { stdout } = await promisify(execFile)(kubeconform ?? '', [...options, file]);
    const { summary } = JSON.parse(stdout);
    expect(summary).toMatchObject({ invalid: 0, errors: 0 });
    expect(summary.valid).toBeGreaterThan(4);
  });

  test.skipIf(kubeconfig === undefined)('an API server takes it', async () => {
    const config = new KubeConfig();
    config.loadFromFile(kubeconfig ?? '');
    const api = KubernetesObjectApi.makeApiClient(config);
    const objects = (await rendered(...valuesOf(name))).filter(({ kind }) => kind !== 'ServiceMonitor');
    for (const each of objects) {
      const namespace = each.metadata.namespace ?? 'default';
      const object = { ...each, metadata: { ...each.metadata, namespace } };
      const taken = await api.create(object, undefined, 'All', 'gatehouse-test');
      expect(taken.metadata?.name).toBe(each.metadata.name);
    }
  });
});

test('the settings of a distributed installation reach where they should', async () => {
  const objects = await rendered(...valuesOf('distributed'));
  const { settings, variables } = settingsOf(objects);
  expect(settings.executor).toMatchObject({
    maxBuilds: 8,
    sandbox: 'bubblewrap',
    outputMaxBytes: 2_000_000_000,
  });
  expect(settings.executor.logServer).toMatchObject({ listenAddress: '10.0.0.7', port: 7900 });
  expect(settings.web.root).toBe('https://gate.example.org');
  expect(settings.tracing).toMatchObject({ sampleRatio: 0.5 });
  expect(variables).toContain('GATEHOUSE_LOG_TOKEN');
  const kinds = workloads(objects).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  expect(kinds.toSorted()).toEqual([
    'Deployment gate-gatehouse-web',
    'StatefulSet gate-gatehouse-executor',
    'StatefulSet gate-gatehouse-merger',
    'StatefulSet gate-gatehouse-scheduler',
  ]);
  const executor = named(objects, 'StatefulSet', 'gate-gatehouse-executor').spec.template.spec;
  expect(executor).toMatchObject({
    hostUsers: false,
    automountServiceAccountToken: true,
    terminationGracePeriodSeconds: 7200,
  });
  const others = workloads(objects).filter(({ metadata }) => metadata.name !== 'gate-gatehouse-executor');
  for (const { spec } of others) {
    expect(spec.template.spec.automountServiceAccountToken).toBe(false);
    expect(spec.template.spec.containers[0].securityContext).toMatchObject({ readOnlyRootFilesystem: true });
  }
  expect(named(objects, 'RoleBinding', 'gate-gatehouse-job-pods')).toMatchObject({
    metadata: { namespace: 'jobs' },
    subjects: [{ kind: 'ServiceAccount', name: executor.serviceAccountName, namespace: 'default' }],
  });
});

test('another configuration restarts the pods, and the same does not', async () => {
  const mark = async (...more: readonly string[]) =>
    workloads(await rendered(...valuesOf('small'), ...more)).map(
      ({ spec }) => spec.template.metadata.annotations['gatehouse/configuration'],
    );
  expect(await mark()).toEqual(await mark());
  expect(await mark('--set', 'settings.executor.max_builds=2')).not.toEqual(await mark());
  expect(await mark('--set', 'ingress.enabled=true')).not.toEqual(await mark());
});

test.each([
  [['--set', 'distributed=true'], 'needs settings.zookeeper.hosts'],
  [['--set', 'distributed=true,settings.zookeeper.hosts=zk'], 'needs settings.database.dburi'],
  [
    ['--set', 'distributed=true,settings.zookeeper.hosts=zk,settings.database.dburi=postgresql://x'],
    'needs GATEHOUSE_LOG_TOKEN',
  ],
  [['--set', 'settings.zookeeper.hosts=zk'], 'goes with distributed: true'],
  [['--set', 'distrbuted=true'], "additional properties 'distrbuted' not allowed"],
  [['--set', 'executor.replicas=0'], 'minimum'],
])('%j is refused with its reason', async (options, reason) => {
  await expect(helm('template', ...options)).rejects.toThrow(reason);
});
