/**
 * A stand-in for scheduler, kubelet and container runtime: it is no Kubernetes. It binds pods to one machine and reports their states through
 * the API, by Kubernetes' own client; the pod's command, and each that is run "in it", is a process of this machine with a home directory of the pod's own.
 * When the former ends, whose number is `$MAIN`, the pod has ended.
 *
 * An image whose name has `missing` in it cannot be fetched, one with `invalid` is none, and a pod with one that has `huge` in it fits nowhere.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import path from 'node:path';
import { CoreV1Api, KubeConfig, type V1Pod, Watch } from '@kubernetes/client-node';

export interface Kubelet extends AsyncDisposable {
  /** @param query of the request for it. */
  startIn(pod: string, query: URLSearchParams): ChildProcess;
  /** Commands that run in it now. */
  running(pod: string): number;
  /** Ends what runs in it. */
  end(pod: string): void;
}

export const MACHINE = 'machine-1';

/** @param context of the kubeconfig. */
export async function startKubelet(kubeconfig: string, context: string): Promise<Kubelet> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-pods-'));
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  config.setCurrentContext(context);
  const namespace = config.getContextObject(context)?.namespace ?? 'default';
  const api = config.makeApiClient(CoreV1Api);
  const children = new Map<string, Set<ChildProcess>>();
  const mains = new Map<string, ChildProcess>();
  let isOver = false;
  let connection: AbortController | undefined;

  async function report(pod: V1Pod, status: object): Promise<void> {
    const name = pod.metadata?.name ?? '';
    const { body: current } = { body: await api.readNamespacedPod({ name, namespace }) };
    const body = { ...current, status: { ...current.status, ...status } } as V1Pod;
    await api.replaceNamespacedPodStatus({ name, namespace, body });
  }

  async function bind(pod: V1Pod): Promise<void> {
    const name = pod.metadata?.name ?? '';
    const target = { apiVersion: 'v1', kind: 'Node', name: MACHINE };
    const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target };
    await api.createNamespacedPodBinding({ name, namespace, body });
  }

  async function take(pod: V1Pod): Promise<void> {
    const image = pod.spec?.containers[0]?.image ?? '';
    if (image.includes('huge')) {
      const message = '0/1 nodes are available: 1 Insufficient cpu.';
      const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message };
      return await report(pod, { conditions: [condition] });
    }
    await bind(pod);
    const scheduled = { type: 'PodScheduled', status: 'True' };
    const waiting = troubleWith(image);
    if (waiting !== undefined) {
      return await report(pod, {
        conditions: [scheduled],
        containerStatuses: [{ ...ofContainer(image), ready: false, state: { waiting } }],
      });
    }
    begin(pod);
    await report(pod, {
      phase: 'Running',
      conditions: [scheduled, { type: 'Ready', status: 'True' }],
      containerStatuses: [
        { ...ofContainer(image), ready: true, state: { running: { startedAt: new Date().toISOString() } } },
      ],
    });
  }

  function begin({ metadata: { name = '' } = {}, spec }: V1Pod): void {
    const home = path.join(folder, name);
    mkdirSync(home, { recursive: true });
    const [program = '', ...rest] = spec?.containers[0]?.command ?? [];
    const main = spawn(program, rest, { cwd: home, detached: true, stdio: 'ignore' });
    mains.set(name, main);
    main.on('close', (code, signal) => {
      if (!mains.delete(name)) return;
      const status = code ?? 128 + (signal === null ? 0 : (constants.signals[signal] ?? 0));
      // It may be deleted meanwhile.
      void ended(name, status).catch(() => undefined);
    });
  }

  async function ended(name: string, exitCode: number): Promise<void> {
    const pod = await api.readNamespacedPod({ name, namespace });
    const terminated = { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error' };
    const container = { ...ofContainer(pod.spec?.containers[0]?.image ?? ''), ready: false };
    await report(pod, {
      phase: exitCode === 0 ? 'Succeeded' : 'Failed',
      containerStatuses: [{ ...container, state: { terminated } }],
    });
    end(name);
  }

  async function watch(): Promise<void> {
    connection = await new Watch(config).watch(
      `/api/v1/namespaces/${namespace}/pods`,
      {},
      (type, pod: V1Pod) => {
        // One that was deleted meanwhile is none of ours.
        if (type === 'ADDED') void take(pod).catch(() => undefined);
        if (type === 'DELETED') end(pod.metadata?.name ?? '');
      },
      () => {
        if (!isOver) void watch();
      },
    );
  }

  function end(pod: string): void {
    const main = mains.get(pod);
    mains.delete(pod);
    for (const { pid } of [...(children.get(pod) ?? []), ...(main === undefined ? [] : [main])])
      if (pid !== undefined) killGroup(pid);
    children.delete(pod);
  }

  await watch();
  return {
    startIn(pod, query) {
      const [command = '', ...rest] = query.getAll('command');
      const home = path.join(folder, pod);
      const child = spawn(command, rest, {
        ...{ cwd: home, detached: true, stdio: 'pipe' },
        env: { PATH: process.env.PATH, HOME: home, POD: pod, MAIN: String(mains.get(pod)?.pid) },
      });
      const all = children.get(pod) ?? new Set();
      children.set(pod, all.add(child));
      return child;
    },
    running: pod => [...(children.get(pod) ?? [])].filter(({ exitCode }) => exitCode === null).length,
    end,
    async [Symbol.asyncDispose]() {
      isOver = true;
      connection?.abort();
      for (const pod of [...children.keys(), ...mains.keys()]) end(pod);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function troubleWith(image: string): { readonly reason: string; readonly message: string } | undefined {
  if (image.includes('invalid')) return { reason: 'InvalidImageName', message: 'it is no image' };
  const message = `Back-off pulling image "${image}": manifest unknown`;
  return image.includes('missing') ? { reason: 'ImagePullBackOff', message } : undefined;
}

function ofContainer(image: string): object {
  return { name: 'node', image, imageID: '', restartCount: 0 };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
