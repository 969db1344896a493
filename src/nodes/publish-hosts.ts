/** `nodes.yaml` into the store, by the one scheduler that grants places: executors and webs read it there. */
import { kubernetesPoolCodec, staticHostCodec } from '../model/codec/records.ts';
import type { NodesFile } from '../model/static-host.ts';
import { ensureNode } from '../store/ensure-node.ts';
import { nameOfNode, type StorePaths } from '../store/paths.ts';
import { create, type Operation, remove, type Store, set } from '../store/port.ts';

type Place = Pick<
  StorePaths,
  'staticHosts' | 'staticHost' | 'nodePools' | 'nodePool' | 'hostStates' | 'hostState'
>;

/**
 * Makes what is stored that of the file; builds on a host or at a provider that is gone go on. States of those that are gone go too.
 *
 * @returns operations for the caller's fence, each of which may be committed alone.
 */
export async function publishOperations(
  store: Store,
  paths: Place,
  { hosts, pools }: Pick<NodesFile, 'hosts' | 'pools'>,
): Promise<readonly Operation[]> {
  for (const path of [paths.staticHosts, paths.nodePools, paths.hostStates]) await ensureNode(store, path);
  const ofHosts = hosts.map(host => [host.name, staticHostCodec.encode(host)] as const);
  const ofPools = pools.map(pool => [pool.name, kubernetesPoolCodec.encode(pool)] as const);
  const wanted = new Set([...ofHosts, ...ofPools].map(([name]) => name));
  const states = ((await store.children(paths.hostStates)) ?? []).map(nameOfNode);
  return [
    ...(await differences(store, paths.staticHosts, paths.staticHost, ofHosts)),
    ...(await differences(store, paths.nodePools, paths.nodePool, ofPools)),
    ...states.filter(name => !wanted.has(name)).map(name => remove(paths.hostState(name))),
  ];
}

/** Between the records of a folder and those that it is to hold. */
async function differences(
  store: Store,
  folder: string,
  pathOf: (name: string) => string,
  records: readonly (readonly [name: string, data: Uint8Array])[],
): Promise<readonly Operation[]> {
  const wanted = new Map(records);
  const names = ((await store.children(folder)) ?? []).map(nameOfNode);
  const nodes = await store.getMany(names.map(pathOf));
  const stored = new Map(names.flatMap((name, index) => [[name, nodes[index]] as const]));
  const changed = records.flatMap(([name, data]): readonly Operation[] => {
    const node = stored.get(name);
    if (node === undefined) return [create(pathOf(name), data)];
    return Buffer.from(node.data).equals(data) ? [] : [set(pathOf(name), data)];
  });
  return [...changed, ...names.filter(name => !wanted.has(name)).map(name => remove(pathOf(name)))];
}
