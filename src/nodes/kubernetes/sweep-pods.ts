/**
 * Deletes pods of this installation that nothing needs: their executor was killed, or the API server was away when their build ended. Every
 * executor does it, for a deletion may be repeated.
 *
 * The pods are listed before the requests are read: a pod is made only while its request is there, so one whose request is not found
 * afterwards has none and never will have.
 */
import type { Log } from '../../lib/log.ts';
import { pause } from '../../lib/pause.ts';
import { createDirty } from '../../lib/signal.ts';
import type { BuildRequest } from '../../model/build-request.ts';
import { type ExecutorZone, reachesZone } from '../../model/executor-zone.ts';
import type { KubernetesPool } from '../../model/kubernetes-pool.ts';
import { isPool, type NodeGrant } from '../../model/static-host.ts';
import { type HostRequests, hostRequests } from '../../store/host-requests.ts';
import { baseName } from '../../store/node-path.ts';
import type { StorePaths } from '../../store/paths.ts';
import { type Store, StoreError } from '../../store/port.ts';
import type { RequestQueue } from '../../store/request-queue.ts';
import { parseRequestName } from '../../store/request-record.ts';
import { wakeUps } from '../../store/wake-ups.ts';
import { type HostTable, openHostTable, readHosts } from '../host-table.ts';
import { podsPath } from './exec-in-pod.ts';
import type { KubeClient, KubeClients } from './kube-client.ts';
import type { SeenPod } from './pod-progress.ts';
import { OWNER_LABELS } from './pod-spec.ts';
import { deletePod } from './start-pod.ts';

export interface PodSweepDeps {
  readonly store: Store;
  readonly paths: StorePaths;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly installation: string;
  readonly clients: KubeClients;
  readonly requests: RequestQueue<BuildRequest>;
  /** Of this executor: others sweep what it does not reach. */
  readonly zone: ExecutorZone;
}

/** Milliseconds: an executor that had lost its claim without knowing may have made a pod after the last look. */
const SWEEP_MS = 60_000;
/** Builds may end many times a second. */
const SHORTEST_MS = 5_000;
const AT_ONCE = 500;

/** Whenever builds lose their places, and once a minute. Until aborted, or until the session is over. */
export async function sweepPods(deps: PodSweepDeps, signal: AbortSignal): Promise<void> {
  const { store, paths, log, requests: queue } = deps;
  const requests = hostRequests(queue);
  const dirty = createDirty(true);
  let timer: NodeJS.Timeout | undefined;
  using _timer = { [Symbol.dispose]: () => clearTimeout(timer) };
  const onError = (error: unknown) =>
    log.warn({ error: String(error) }, 'the list of hosts could not be read');
  try {
    using hosts = await openHostTable(store, paths, onError, dirty.set);
    const concerns = ({ path, kind }: { readonly path: string; readonly kind: string }) =>
      kind === 'deleted' && parseRequestName(baseName(path))?.hosts === 'granted';
    for await (const _ of wakeUps(store, queue.queuePath, signal, concerns, dirty)) {
      clearTimeout(timer);
      const pools = poolsIn(hosts).filter(({ zone }) => reachesZone(deps.zone, zone));
      for (const pool of pools) await sweep(deps, pool, requests, signal);
      if (pools.length === 0) continue;
      await pause(SHORTEST_MS, signal);
      timer = setTimeout(dirty.set, SWEEP_MS);
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (!['SessionExpired', 'Closed'].includes(error.code))
      log.warn({ error: error.message }, 'pods that are left over are not looked for any more');
  }
}

function poolsIn(hosts: Pick<HostTable, 'rows'>): readonly KubernetesPool[] {
  return hosts.rows().flatMap(({ host }) => (isPool(host) ? [host] : []));
}

/** What is wrong with the provider is said where builds wait for it; here it is tried again. */
async function sweep(
  deps: PodSweepDeps,
  pool: KubernetesPool,
  requests: { read(): Promise<HostRequests> },
  signal: AbortSignal,
): Promise<void> {
  const opened = await deps.clients.open(pool);
  if (opened.kind === 'trouble') return;
  const { pods, refusal } = await podsOf(opened.client, deps.installation, signal);
  // No build waits for this right.
  if (refusal !== undefined)
    deps.log.warn({ provider: pool.name, reason: refusal }, 'pods that are left over cannot be listed');
  if (pods.length === 0 || signal.aborted) return;
  const { granted } = await requests.read();
  const grants = new Map<string, NodeGrant>(granted.map(({ uuid, grant }) => [uuid, grant]));
  // After the requests: what a build that has ended keeps is written with its end.
  const rows = await readHosts(deps.store, deps.paths, () => undefined);
  const kept = rows.flatMap(({ state }) => (state?.kept ?? []).map(({ build }) => build));
  for (const pod of leftovers(pods, grants, new Set<string>(kept))) {
    const { name = '', uid } = pod.metadata ?? {};
    const problem = await deletePod(opened.client, name, uid);
    const facts = { provider: pool.name, pod: name };
    if (problem === undefined) deps.log.info(facts, 'a pod that was left over is deleted');
    else deps.log.warn({ ...facts, reason: problem }, 'a pod that is left over could not be deleted');
  }
}

/** Pods that no build has any more, and that are not kept for a person: of any provider, for several may share a namespace. Pure. */
export function leftovers(
  pods: readonly SeenPod[],
  grants: ReadonlyMap<string, NodeGrant>,
  kept: ReadonlySet<string>,
): readonly SeenPod[] {
  return pods.filter(({ metadata }) => {
    const { [OWNER_LABELS.build]: build = '', [OWNER_LABELS.granted]: at } = metadata?.labels ?? {};
    if (metadata?.deletionTimestamp !== undefined || kept.has(build)) return false;
    return grants.get(build)?.at !== at;
  });
}

/** @returns as many as can be listed, and why not all, where the API server answers. */
async function podsOf(
  client: KubeClient,
  installation: string,
  signal: AbortSignal,
): Promise<{ readonly pods: readonly SeenPod[]; readonly refusal?: string }> {
  const pods: SeenPod[] = [];
  let next = '';
  do {
    const labelSelector = `${OWNER_LABELS.installation}=${installation}`;
    const query = { labelSelector, limit: AT_ONCE, ...(next === '' ? {} : { continue: next }) };
    const answer = await client.call('GET', podsPath(client), { query, signal });
    if (answer.kind === 'refused') return { pods, refusal: `${answer.status}: ${answer.message}` };
    if (answer.kind === 'trouble') return { pods };
    const { items, metadata } = Object(answer.body) as {
      readonly items?: readonly SeenPod[];
      readonly metadata?: { readonly continue?: string };
    };
    pods.push(...(items ?? []));
    next = metadata?.continue ?? '';
  } while (next !== '');
  return { pods };
}
