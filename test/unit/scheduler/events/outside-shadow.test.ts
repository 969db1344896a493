import { expect, test } from 'vitest';
import { layoutSummaryCodec } from '../../../../src/model/codec/records.ts';
import type { Tenant } from '../../../../src/model/layout.ts';
import { outsideShadow } from '../../../../src/scheduler/events/outside-shadow.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { storePaths } from '../../../../src/store/paths.ts';
import { set } from '../../../../src/store/port.ts';
import { emptyLayout } from '../../../fake/records.ts';
import { openStand } from '../stand.ts';

const paths = storePaths('/gatehouse');

test('people of tenants in shadow mode, and of those without a layout, are not answered', async () => {
  await using stand = openStand();
  const { store } = stand;
  const tenants: readonly Tenant[] = [
    { name: 'open', projects: [], maxJobTimeout: 1 },
    { name: 'shadow', projects: [], maxJobTimeout: 1, shadowMode: true },
  ];
  for (const tenant of tenants) {
    const path = paths.tenant(tenant.name).layout;
    await ensureNode(store, path);
    const layout = emptyLayout({ tenant: tenant.name, builtFrom: { tenant, projects: [] } });
    await store.multi([set(path, layoutSummaryCodec.encode(layout))]);
  }
  expect(await outsideShadow(['open', 'shadow', 'new'], { store, paths })).toEqual(['open']);
  await store.multi([set(paths.tenant('open').layout, new TextEncoder().encode('{'))]);
  await expect(outsideShadow(['open'], { store, paths })).rejects.toThrow();
});
