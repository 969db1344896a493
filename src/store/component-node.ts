/** One component's node: its id, and changes by several writers. */
import { componentCodec } from '../model/codec/records.ts';
import type { ComponentRecord } from '../model/component.ts';
import { settle } from './connection.ts';
import type { ComponentKind } from './paths.ts';
import { type Store, StoreError, set } from './port.ts';

/**
 * Read, modify, write; repeats when another writer changed the node meanwhile.
 *
 * @param next the new record; undefined when nothing has to change.
 */
export async function changeComponent(
  store: Store,
  path: string,
  next: (record: ComponentRecord) => ComponentRecord | undefined,
): Promise<void> {
  for (;;) {
    const node = await settle(store, () => store.get(path));
    if (node === undefined) throw new StoreError('NoNode', path);
    const changed = next(componentCodec.decode(node.data));
    if (changed === undefined) return;
    try {
      await store.multi([set(path, componentCodec.encode(changed), node.stat.version)]);
      return;
    } catch (error) {
      // Another writer changed the node, or the answer was lost: read again.
      if (!(error instanceof StoreError) || !['BadVersion', 'ConnectionLoss'].includes(error.code))
        throw error;
    }
  }
}

/** Such as `executor-3`. @param node its path or name, which ends with the number of the registration. */
export function componentId(kind: ComponentKind, node: string): string {
  return `${kind}-${registrationNumber(node)}`;
}

/** @param node name or path; the number is the store's suffix, so a later registration of the kind has a higher one. */
export function registrationNumber(node: string): number {
  return Number(node.slice(-10));
}
