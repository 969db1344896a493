/** One component's node: its id, and changes by several writers. */
import { componentCodec } from '../model/codec/records.ts';
import type { ComponentRecord } from '../model/component.ts';
import { settle } from './connection.ts';
import type { ComponentKind } from './paths.ts';
import { type Store, StoreError, set } from './port.ts';

/** Reads, changes, writes if nobody else has written meanwhile, else again. @param next undefined: it is as it should be. */
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
      // Somebody else wrote, or the answer was lost: what is there now tells.
      if (!(error instanceof StoreError) || !['BadVersion', 'ConnectionLoss'].includes(error.code))
        throw error;
    }
  }
}

/** Such as `executor-3`. @param node its path or name, which ends with the number of the registration. */
export function componentId(kind: ComponentKind, node: string): string {
  return `${kind}-${registrationNumber(node)}`;
}

export function registrationNumber(node: string): number {
  return Number(node.slice(-10));
}
