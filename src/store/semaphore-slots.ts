/** Slots of semaphores as nodes: who holds one is in the node, and only its holder's pipeline changes or removes it. */
import { isBrokenRecord, isNewerRecord } from '../model/codec/record.ts';
import { semaphoreHolderCodec } from '../model/codec/records.ts';
import type { TenantName } from '../model/project.ts';
import type { SemaphoreHold, SemaphoreHolder, SemaphoreScope } from '../model/semaphore.ts';
import { ensureNode } from './ensure-node.ts';
import { nameOfNode, type StorePaths } from './paths.ts';
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

/** A slot that only a playbook holds. */
export interface HeldByPlaybook extends SemaphoreHolder {
  /** The semaphore's. */
  readonly name: string;
  readonly scope: SemaphoreScope;
  readonly playbook: string;
}

/** Semaphores that are looked at, of one tenant and of all tenants each. */
const MOST_SEMAPHORES = 300;

/** Slots that playbooks hold of a tenant's and of global semaphores; the holders of the latter may be of any tenant. */
export async function slotsOfPlaybooks(
  store: Store,
  paths: StorePaths,
  tenant: TenantName,
): Promise<readonly HeldByPlaybook[]> {
  const parents = [
    { scope: 'tenant', parent: paths.semaphoresOf(tenant) },
    { scope: 'global', parent: paths.globalSemaphores },
  ] as const;
  const found = parents.map(async ({ scope, parent }) => {
    const names = ((await store.children(parent)) ?? []).slice(0, MOST_SEMAPHORES);
    const slots = await Promise.all(
      names.map(async name =>
        ((await store.children(`${parent}/${name}`)) ?? []).map(slot => ({ name, slot })),
      ),
    );
    const all = slots.flat();
    const nodes = await store.getMany(all.map(({ name, slot }) => `${parent}/${name}/${slot}`));
    return all.flatMap(({ name }, index): readonly HeldByPlaybook[] => {
      const node = nodes[index];
      const holder = node?.stat.ephemeralOwner === undefined ? undefined : holderIn(node.data);
      if (holder?.playbook === undefined) return [];
      return [{ ...holder, playbook: holder.playbook, name: nameOfNode(name), scope }];
    });
  });
  return (await Promise.all(found)).flat();
}
