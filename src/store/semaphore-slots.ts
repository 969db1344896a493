/** Slots of semaphores as nodes: who holds one is in the node, and only its holder's pipeline changes or removes it. */
import { isBrokenRecord, isNewerRecord } from '../model/codec/record.ts';
import { semaphoreHolderCodec } from '../model/codec/records.ts';
import type { TenantName } from '../model/project.ts';
import type { SemaphoreHold, SemaphoreHolder } from '../model/semaphore.ts';
import { ensureNode } from './ensure-node.ts';
import type { StorePaths } from './paths.ts';
import type { Store } from './port.ts';

/** Place of a slot. @param tenant of the holder. */
export function slotPath(paths: StorePaths, tenant: TenantName, hold: SemaphoreHold): string {
  return `${paths.semaphore(tenant, hold.scope, hold.name)}/${hold.slot}`;
}

/** The slots that are taken, by number. Makes the directory, so that a slot can be made in it. */
export async function takenSlots(store: Store, directory: string): Promise<ReadonlySet<number>> {
  await ensureNode(store, directory);
  const names = (await store.children(directory)) ?? [];
  return new Set(names.map(Number).filter(slot => Number.isSafeInteger(slot) && slot >= 0));
}

/** Undefined: the record is broken, or of a newer version. */
export function holderIn(data: Uint8Array): SemaphoreHolder | undefined {
  try {
    return semaphoreHolderCodec.decode(data);
  } catch (error) {
    if (isBrokenRecord(error) || isNewerRecord(error)) return undefined;
    throw error;
  }
}
