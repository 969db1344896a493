/**
 * A stand-in for the kubelet of one machine, and where there is none for the scheduler: it is no Kubernetes. It reports the states of pods through the
 * API, by Kubernetes' own client, to the fake API server or a real one; what runs in them are processes of this machine (`pod-processes.ts`).
 *
 * An image whose name has `missing` in it cannot be fetched, one with `invalid` is none, and a pod with one that has `huge` in it fits nowhere.
 */
import type { ChildProcess } from 'node:child_process';
import {
  ApiException,
  CoreV1Api,
  KubeConfig,
  type V1Pod,
  type V1PodCondition,
  Watch,
} from '@kubernetes/client-node';
import { pause } from '../../../src/lib/pause.ts';
import { openPodProcesses, type PodProcesses } from './pod-processes.ts';

export interface Kubelet extends AsyncDisposable {
  readonly processes: PodProcesses;
  /** @param query of the request for it. */
  startIn(pod: string, query: URLSearchParams): ChildProcess;
  /** Commands that run in it now. */
  running(pod: string): number;
  /** Ends what runs in it. */
  end(pod: string): void;
}

export const MACHINE = 'machine-1';

/** Milliseconds between two attempts at an API server that is away. */
const RETRY_MS = 200;
/** Other writers of a status may be first. */
const MOST_TRIES = 10;

interface KubeletOptions {
  /** Absent: pods of all namespaces that a scheduler has bound to the machine. */
  readonly bindsIn?: string;
}

/** @param context of the kubeconfig. */
export async function startKubelet(
  kubeconfig: string,
  context: string,
  { bindsIn }: KubeletOptions = {},
): Promise<Kubelet> {
  const processes = await openPodProcesses();
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  config.setCurrentContext(context);
  const api = config.makeApiClient(CoreV1Api);
  const over = new AbortController();
  const known = new Map<string, string>();

  async function take(pod: V1Pod): Promise<void> {
    const { name, uid } = idOf(pod);
    if (known.get(name) === uid) return;
    known.set(name, uid);
    const image = pod.spec?.containers[0]?.image ?? '';
    if (bindsIn !== undefined && !(await isBound(pod, image))) return;
    const waiting = troubleWith(image);
    if (waiting !== undefined) return await report(pod, { state: { waiting } });
    await report(pod, { state: { waiting: { reason: 'ContainerCreating' } } });
    if (known.get(name) !== uid) return;
    processes.begin(name, pod.spec?.containers[0]?.command ?? [], status => {
      void guarded(() => ended(pod, status));
    });
    const running = { startedAt: new Date().toISOString() };
    const conditions = ['Initialized', 'ContainersReady', 'Ready'].map(type => ({ type, status: 'True' }));
    await report(pod, { state: { running }, ready: true }, { phase: 'Running', conditions });
  }

  /** In the scheduler's place. */
  async function isBound(pod: V1Pod, image: string): Promise<boolean> {
    const { name, namespace } = idOf(pod);
    if (image.includes('huge')) {
      const message = '0/1 nodes are available: 1 Insufficient cpu.';
      const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message };
      await report(pod, {}, { conditions: [condition] });
      return false;
    }
    const target = { apiVersion: 'v1', kind: 'Node', name: MACHINE };
    const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target };
    await api.createNamespacedPodBinding({ name, namespace, body });
    return true;
  }

  /** @param container absent members: there is none yet. */
  async function report(
    pod: V1Pod,
    { state, ready = false }: { readonly state?: object; readonly ready?: boolean },
    { conditions = [], ...more }: { readonly phase?: string; readonly conditions?: V1PodCondition[] } = {},
  ): Promise<void> {
    const { name, namespace } = idOf(pod);
    const { image = '', name: container = '' } = pod.spec?.containers[0] ?? {};
    const own = { name: container, image, imageID: '', restartCount: 0, ready, state };
    for (let tries = 1; ; tries++) {
      const current = await api.readNamespacedPod({ name, namespace });
      const others = (current.status?.conditions ?? []).filter(
        ({ type }) => !conditions.some(each => each.type === type),
      );
      const status = {
        ...{ ...current.status, ...more, conditions: [...others, ...conditions] },
        ...(state === undefined ? {} : { containerStatuses: [own] }),
      };
      try {
        await api.replaceNamespacedPodStatus({ name, namespace, body: { ...current, status } as V1Pod });
        return;
      } catch (error) {
        if (codeOf(error) !== 409 || tries >= MOST_TRIES) throw error;
      }
    }
  }

  async function ended(pod: V1Pod, exitCode: number): Promise<void> {
    const times = { startedAt: new Date().toISOString(), finishedAt: new Date().toISOString() };
    const terminated = { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', ...times };
    const conditions = ['ContainersReady', 'Ready'].map(type => ({ type, status: 'False' }));
    const phase = exitCode === 0 ? 'Succeeded' : 'Failed';
    await report(pod, { state: { terminated } }, { phase, conditions });
    processes.end(idOf(pod).name);
  }

  /** One that is to go with time to end has none here. */
  async function remove(pod: V1Pod): Promise<void> {
    const { name, namespace, uid } = idOf(pod);
    processes.end(name);
    const body = { gracePeriodSeconds: 0, preconditions: { uid } };
    await api.deleteNamespacedPod({ name, namespace, body });
  }

  function see(type: string, pod: V1Pod): void {
    const { name, uid } = idOf(pod);
    if (type === 'DELETED') {
      if (known.get(name) === uid) known.delete(name);
      processes.end(name);
    } else if (pod.metadata?.deletionTimestamp !== undefined) void guarded(() => remove(pod));
    else void guarded(() => take(pod));
  }

  /** As it is now, and then each change, until the connection ends. */
  async function follow(started: () => void): Promise<void> {
    const fieldSelector = bindsIn === undefined ? `spec.nodeName=${MACHINE}` : undefined;
    const selected = fieldSelector === undefined ? {} : { fieldSelector };
    const { items, metadata } =
      bindsIn === undefined
        ? await api.listPodForAllNamespaces(selected)
        : await api.listNamespacedPod({ namespace: bindsIn });
    const there = new Set(items.map(pod => idOf(pod).name));
    for (const name of [...known.keys()].filter(each => !there.has(each))) {
      known.delete(name);
      processes.end(name);
    }
    for (const pod of items) see('ADDED', pod);
    const place = bindsIn === undefined ? '' : `/namespaces/${bindsIn}`;
    const query = { ...selected, resourceVersion: metadata?.resourceVersion };
    const { promise, resolve } = Promise.withResolvers<void>();
    const connection = await new Watch(config).watch(
      `/api/v1${place}/pods`,
      query,
      (type: string, pod: V1Pod) => (type === 'ERROR' ? undefined : see(type, pod)),
      () => resolve(),
    );
    over.signal.addEventListener('abort', () => connection.abort());
    started();
    await promise;
  }

  const { promise: following, resolve: started, reject } = Promise.withResolvers<void>();
  const loop = (async () => {
    while (!over.signal.aborted) {
      // Once it has been there the API server may be away.
      await follow(started).catch(reject);
      await pause(RETRY_MS, over.signal);
    }
  })();
  await following;
  return {
    processes,
    startIn: (pod, query) => processes.startIn(pod, query.getAll('command')),
    running: processes.running,
    end: processes.end,
    async [Symbol.asyncDispose]() {
      over.abort();
      await loop;
      await processes[Symbol.asyncDispose]();
    },
  };
}

/** What fails for a pod that was deleted or changed meanwhile is none of ours; a machine may not see one that is gone. */
async function guarded(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (![403, 404, 409].includes(codeOf(error) ?? 0)) process.stderr.write(`kubelet: ${String(error)}\n`);
  }
}

function codeOf(error: unknown): number | undefined {
  return error instanceof ApiException ? error.code : undefined;
}

function idOf({ metadata }: V1Pod): {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
} {
  const { name = '', namespace = '', uid = '' } = metadata ?? {};
  return { name, namespace, uid };
}

function troubleWith(image: string): { readonly reason: string; readonly message: string } | undefined {
  if (image.includes('invalid')) return { reason: 'InvalidImageName', message: 'it is no image' };
  const message = `Back-off pulling image "${image}": manifest unknown`;
  return image.includes('missing') ? { reason: 'ImagePullBackOff', message } : undefined;
}
