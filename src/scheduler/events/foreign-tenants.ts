/**
 * Other tenants, as the store knows them. During an upgrade that adds a tenant, only some schedulers have it in their tenant file:
 * the events of a connection, and landings, are forwarded to it as well, or it would learn of them late.
 *
 * A tenant counts while a scheduler contends for its lock: its queue exists then, and its events will be processed.
 */
import { isBrokenRecord, isNewerRecord } from '../../model/codec/record.ts';
import { layoutSummaryCodec } from '../../model/codec/records.ts';
import type { ProjectKey, TenantName } from '../../model/project.ts';
import { nameOfNode, type StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';

/** With the projects of the stored layout; none while that cannot be read. */
export type ForeignTenants = ReadonlyMap<TenantName, ReadonlySet<ProjectKey>>;

/** @param own the tenants to leave out. @returns usually nothing, at the cost of one read. */
export async function foreignTenants(
  own: ReadonlySet<TenantName>,
  store: Store,
  paths: StorePaths,
): Promise<ForeignTenants> {
  const names = ((await store.children(paths.tenants)) ?? []).map(nameOfNode);
  const found = new Map<TenantName, ReadonlySet<ProjectKey>>();
  for (const name of names.filter(each => !own.has(each))) {
    const { lock, layout } = paths.tenant(name);
    const contenders = (await store.children(lock)) ?? [];
    if (contenders.length > 0) found.set(name, projectsIn((await store.get(layout))?.data));
  }
  return found;
}

function projectsIn(layout: Uint8Array | undefined): ReadonlySet<ProjectKey> {
  if (layout === undefined || layout.length === 0) return new Set();
  try {
    return new Set(layoutSummaryCodec.decode(layout).projects.map(each => each.project));
  } catch (error) {
    if (isNewerRecord(error) || isBrokenRecord(error)) return new Set();
    throw error;
  }
}
