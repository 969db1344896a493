/** `nodes.yaml` into the store, by the one scheduler that grants hosts: executors and webs read it there. */
import { staticHostCodec } from '../model/codec/records.ts';
import type { StaticHost } from '../model/static-host.ts';
import { ensureNode } from '../store/ensure-node.ts';
import { nameOfNode, type StorePaths } from '../store/paths.ts';
import { create, type Operation, remove, type Store, set } from '../store/port.ts';

/**
 * Makes the stored hosts those of the file; builds on a host that is gone go on. States of hosts that are gone go too.
 *
 * @returns operations for the caller's fence, each of which may be committed alone.
 */
export async function publishOperations(
  store: Store,
  paths: Pick<StorePaths, 'staticHosts' | 'staticHost' | 'hostStates' | 'hostState'>,
  hosts: readonly StaticHost[],
): Promise<readonly Operation[]> {
  for (const path of [paths.staticHosts, paths.hostStates]) await ensureNode(store, path);
  const wanted = new Map(hosts.map(host => [host.name, host]));
  const names = ((await store.children(paths.staticHosts)) ?? []).map(nameOfNode);
  const states = ((await store.children(paths.hostStates)) ?? []).map(nameOfNode);
  const nodes = await store.getMany(names.map(paths.staticHost));
  const stored = new Map(names.flatMap((name, index) => [[name, nodes[index]] as const]));
  const changed = hosts.flatMap((host): readonly Operation[] => {
    const node = stored.get(host.name);
    const data = staticHostCodec.encode(host);
    if (node === undefined) return [create(paths.staticHost(host.name), data)];
    return Buffer.from(node.data).equals(data) ? [] : [set(paths.staticHost(host.name), data)];
  });
  return [
    ...changed,
    ...names.filter(name => !wanted.has(name)).map(name => remove(paths.staticHost(name))),
    ...states.filter(name => !wanted.has(name)).map(name => remove(paths.hostState(name))),
  ];
}
