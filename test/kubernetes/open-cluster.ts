/** A cluster for the tests of one file: a namespace, an account for executors with the rights of our guide, and a machine that takes pods. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CoreV1Api, KubeConfig, RbacAuthorizationV1Api, type V1PolicyRule } from '@kubernetes/client-node';
import { load } from 'js-yaml';
import { createKubeClients, type KubeClient } from '../../src/nodes/kubernetes/kube-client.ts';
import { type Kubelet, MACHINE, startKubelet } from '../fake/kubernetes/kubelet.ts';
import { bindPods } from './bind-pods.ts';
import { type ControlPlane, FILES, startControlPlane } from './control-plane.ts';
import { given, has, type Programs } from './given-programs.ts';

export interface Cluster extends AsyncDisposable {
  readonly admin: CoreV1Api;
  readonly namespace: string;
  /** Has sh and python3. */
  readonly image: string;
  /** For files of a test. */
  readonly folder: string;
  /** Makes a service account with these rights in the namespace. @returns path of its kubeconfig. */
  account(name: string, rules: readonly V1PolicyRule[]): Promise<string>;
  /** Absent: it is a cluster that was given, with a kubelet of its own. */
  readonly own?: { readonly plane: ControlPlane; readonly kubelet: Kubelet };
}

const GUIDE = path.resolve(import.meta.dirname, '../../doc/guide/operations.md');

/** The rights that the guide says an executor needs. */
export async function documentedRights(): Promise<readonly V1PolicyRule[]> {
  const blocks = [...(await readFile(GUIDE, 'utf8')).matchAll(/^```yaml\n(.*?)^```/gms)];
  const [, text = ''] = blocks.find(([, block]) => block?.includes('kind: Role\n')) ?? [];
  const { rules } = load(text) as { readonly rules: readonly V1PolicyRule[] };
  return rules;
}

export async function clientOf(kubeconfig: string, context?: string): Promise<KubeClient> {
  const opened = await createKubeClients().open({
    kubeconfig,
    ...(context === undefined ? {} : { context }),
  });
  if (opened.kind === 'trouble') throw new Error(opened.reason);
  return opened.client;
}

export async function openCluster(): Promise<Cluster> {
  await using opening = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-cluster-'));
  opening.defer(() => rm(folder, { recursive: true, force: true }));
  const found = given();
  const own = found.kind === 'programs' ? opening.use(await ownCluster(found.programs)) : undefined;
  const config = new KubeConfig();
  if (own !== undefined) config.loadFromString(own.plane.configOf('admin'));
  else if (found.kind === 'cluster') config.loadFromFile(found.admin);
  const admin = config.makeApiClient(CoreV1Api);
  const namespace = `gatehouse-${process.pid}-${Date.now()}`;
  await admin.createNamespace({ body: { metadata: { name: namespace } } });
  if (own === undefined) opening.defer(async () => void (await admin.deleteNamespace({ name: namespace })));
  const body = { metadata: { name: 'default' } };
  if (!has('kube-controller-manager')) await admin.createNamespacedServiceAccount({ namespace, body });
  if (!has('kube-scheduler')) opening.use(bindPods(admin, namespace));
  await untilAccount(admin, namespace);

  async function account(name: string, rules: readonly V1PolicyRule[]): Promise<string> {
    const rbac = config.makeApiClient(RbacAuthorizationV1Api);
    const metadata = { name, namespace };
    await admin.createNamespacedServiceAccount({ namespace, body: { metadata } });
    await rbac.createNamespacedRole({ namespace, body: { metadata, rules: [...rules] } });
    await rbac.createNamespacedRoleBinding({
      namespace,
      body: {
        metadata,
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
        subjects: [{ kind: 'ServiceAccount', name, namespace }],
      },
    });
    const { status } = await admin.createNamespacedServiceAccountToken({
      ...{ name, namespace },
      body: { spec: { audiences: [], expirationSeconds: 3600 } },
    });
    const file = path.join(folder, `${name}.json`);
    await writeFile(file, configFor(config, status?.token ?? '', namespace), { mode: 0o600 });
    return file;
  }

  const lifetime = opening.move();
  return {
    ...{ admin, namespace, folder, account },
    image: found.kind === 'cluster' ? found.image : 'registry/debian:13',
    ...(own === undefined ? {} : { own }),
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

function configFor(config: KubeConfig, token: string, namespace: string): string {
  const { server, caData, caFile, skipTLSVerify } = config.getCurrentCluster() ?? {};
  const cluster = {
    ...{ server, 'certificate-authority-data': caData, 'certificate-authority': caFile },
    'insecure-skip-tls-verify': skipTLSVerify,
  };
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'tests' },
    clusters: [{ name: 'tests', cluster }],
    users: [{ name: 'executor', user: { token } }],
    contexts: [{ name: 'tests', context: { cluster: 'tests', user: 'executor', namespace } }],
  });
}

/** The account of pods, which a controller makes. */
async function untilAccount(admin: CoreV1Api, namespace: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await admin.readNamespacedServiceAccount({ name: 'default', namespace });
      return;
    } catch (error) {
      if (tries >= 100) throw error;
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  }
}

async function ownCluster(programs: Programs) {
  await using opening = new AsyncDisposableStack();
  const plane = opening.use(await startControlPlane(programs));
  const config = new KubeConfig();
  config.loadFromString(plane.configOf('machine'));
  const admin = new KubeConfig();
  admin.loadFromString(plane.configOf('admin'));
  const kubelet = opening.use(await startKubelet(plane.configOf('machine'), 'tests'));
  const { child, port } = await startExecServer(
    programs['exec-server'],
    plane.folder,
    kubelet.processes.folder,
  );
  opening.defer(async () => {
    const ended = once(child, 'close');
    child.stdin?.end();
    await ended;
  });
  await registerMachine(config.makeApiClient(CoreV1Api), port);
  await makeSchedulable(admin.makeApiClient(CoreV1Api));
  const lifetime = opening.move();
  return { plane, kubelet, [Symbol.asyncDispose]: () => lifetime.disposeAsync() };
}

async function startExecServer(
  program: string,
  certificates: string,
  pods: string,
): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const file = (name: string) => path.join(certificates, name);
  const options = ['-pods', pods, '-cert', file(FILES.machine), '-key', file('machine.key')];
  const child = spawn(program, [...options, '-client-ca', file(FILES.authority)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(([status]) => {
      throw new Error(`${program} ended with status ${status}`);
    }),
  ]);
  return { child, port: Number(String(line)) };
}

/** As its kubelet does: with the rights of the machine. */
async function registerMachine(api: CoreV1Api, Port: number): Promise<void> {
  const room = { cpu: '8', memory: '16Gi', pods: '110' };
  const body = { metadata: { name: MACHINE, labels: { 'kubernetes.io/hostname': MACHINE } } };
  const node = await api.createNode({ body });
  const status = {
    ...{ capacity: room, allocatable: room, daemonEndpoints: { kubeletEndpoint: { Port } } },
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    conditions: [{ type: 'Ready', status: 'True', reason: 'StandIn', message: 'a stand-in of tests' }],
  };
  await api.replaceNodeStatus({ name: MACHINE, body: { ...node, status } });
}

/** In the place of the controller that sees that machines are well. */
async function makeSchedulable(admin: CoreV1Api): Promise<void> {
  const node = await admin.readNode({ name: MACHINE });
  await admin.replaceNode({ name: MACHINE, body: { ...node, spec: { ...node.spec, taints: [] } } });
}
