/**
 * The hosts and providers of the installation as one process sees them, fed by watches; it trails the store by the time of one read.
 *
 *     using hosts = await openHostTable(store, paths, onError);
 *     hosts.canServe(job.nodes)      // 'later': hosts with these labels are there, but some are out of service
 */
import { isNewerRecord } from '../model/codec/record.ts';
import { hostStateCodec, kubernetesPoolCodec, staticHostCodec } from '../model/codec/records.ts';
import { type HostState, isInService, type NodeSource, type WantedNodes } from '../model/static-host.ts';
import { ensureNode } from '../store/ensure-node.ts';
import { nameOfNode, type StorePaths } from '../store/paths.ts';
import type { Store } from '../store/port.ts';
import { createPathRefresher } from '../store/refresher.ts';
import { canServe } from './assign-hosts.ts';

/** A host or a provider, and how it fares. */
export interface HostRow {
  readonly host: NodeSource;
  /** Absent: nothing is to be said of it. */
  readonly state?: HostState;
  /** Why no executor reaches it; its state then counts as out of service (`zone-rows.ts`). */
  readonly unreached?: string;
}

/** @see zone-rows.ts */
type AdjustRows = (rows: readonly HostRow[]) => readonly HostRow[];

/** What is asked of the hosts before a build is requested. */
export interface HostOffers {
  /** `yes`: hosts in service have all of the labels, in use or not. `later`: some of them are out of service now. */
  canServe(nodes: WantedNodes['nodes'], adjust?: AdjustRows): 'yes' | 'later' | 'no';
  /** All labels of all hosts. */
  labels(): readonly string[];
}

export interface HostTable extends HostOffers, Disposable {
  /** Sorted by name. */
  rows(): readonly HostRow[];
  /** Resolves when a read that began after this call has ended. */
  fresh(): Promise<void>;
}

type Place = Pick<
  StorePaths,
  'staticHosts' | 'staticHost' | 'nodePools' | 'nodePool' | 'hostStates' | 'hostState'
>;

/** @param onError called for a failed read and for a record that cannot be read; @param onChange after each read. */
export async function openHostTable(
  store: Store,
  paths: Place,
  onError: (error: unknown) => void,
  onChange: () => void = () => {},
): Promise<HostTable> {
  let rows: readonly HostRow[] = [];
  const read = async () => {
    rows = await readHosts(store, paths, onError);
    onChange();
  };
  const folders = [paths.staticHosts, paths.nodePools, paths.hostStates];
  for (const path of folders) await ensureNode(store, path);
  using opening = new DisposableStack();
  const copies = folders.map(path => opening.use(createPathRefresher(store, path, read, { onError })));
  await copies[0]?.touch();
  const lifetime = opening.move();
  return {
    rows: () => rows,
    fresh: async () => void (await copies[0]?.touch()),
    labels: () => [...new Set(rows.flatMap(({ host }) => host.labels))],
    canServe(nodes, adjust = given => given) {
      const all = rows.map(({ host }) => host);
      if (!canServe(nodes, all)) return 'no';
      const inService = adjust(rows)
        .filter(({ state }) => isInService(state))
        .map(({ host }) => host);
      return canServe(nodes, inService) ? 'yes' : 'later';
    },
    [Symbol.dispose]: () => lifetime.dispose(),
  };
}

/** Sorted by name. */
export async function readHosts(
  store: Store,
  paths: Place,
  onError: (error: unknown) => void,
): Promise<readonly HostRow[]> {
  const folders = [paths.staticHosts, paths.nodePools];
  const listed = await Promise.all(folders.map(folder => store.children(folder)));
  const names = listed.flatMap(found => (found ?? []).map(nameOfNode));
  return await readHostsNamed(store, paths, [...new Set(names)].toSorted(), onError);
}

/**
 * In the order of the names. A host or provider whose records this process cannot read is left out: it is given to no build.
 */
export async function readHostsNamed(
  store: Store,
  paths: Pick<Place, 'staticHost' | 'nodePool' | 'hostState'>,
  names: readonly string[],
  onError: (error: unknown) => void = () => undefined,
): Promise<readonly HostRow[]> {
  const hosts = await store.getMany(names.map(paths.staticHost));
  const pools = await store.getMany(names.map(paths.nodePool));
  const states = await store.getMany(names.map(paths.hostState));
  return names.flatMap((name, index): readonly HostRow[] => {
    const [host, pool, state] = [hosts[index], pools[index], states[index]];
    try {
      const source =
        pool === undefined
          ? host && staticHostCodec.decode(host.data)
          : kubernetesPoolCodec.decode(pool.data);
      if (source === undefined) return [];
      const row = { host: source };
      return [state === undefined ? row : { ...row, state: hostStateCodec.decode(state.data) }];
    } catch (error) {
      if (!isNewerRecord(error)) onError(new Error(`host ${name} cannot be read`, { cause: error }));
      return [];
    }
  });
}
