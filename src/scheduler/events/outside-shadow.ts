import { layoutSummaryCodec } from '../../model/codec/records.ts';
import type { TenantName } from '../../model/project.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';

/** The tenants that are not in shadow mode, by their layouts in force. @throws where one cannot be read. */
export async function outsideShadow(
  tenants: readonly TenantName[],
  { store, paths }: { readonly store: Pick<Store, 'get'>; readonly paths: Pick<StorePaths, 'tenant'> },
): Promise<readonly TenantName[]> {
  const outside: TenantName[] = [];
  for (const tenant of tenants) {
    const node = await store.get(paths.tenant(tenant).layout);
    // Without a layout nothing runs for the tenant, and there is nothing to say.
    if (node === undefined || node.data.length === 0) continue;
    const { builtFrom } = layoutSummaryCodec.decode(node.data);
    if (builtFrom?.tenant.shadowMode !== true) outside.push(tenant);
  }
  return outside;
}
