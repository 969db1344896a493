import { describe, expect, test } from 'vitest';
import { gitDriver } from '../../../../drivers/git/index.ts';
import { layoutSummaryCodec } from '../../../../src/model/codec/records.ts';
import type { BranchConfig } from '../../../../src/model/merge.ts';
import { createLayouts } from '../../../../src/scheduler/tenant/layouts.ts';
import { type ReconfigureDeps, storeLayout } from '../../../../src/scheduler/tenant/reconfigure.ts';
import {
  layoutFrom,
  type TenantConfig,
  withProject,
} from '../../../../src/scheduler/tenant/tenant-config.ts';
import { openTenantLayout } from '../../../../src/scheduler/tenant/tenant-layout.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { remove, type Store, set } from '../../../../src/store/port.ts';
import { layoutsInProcess } from '../../../fake/layouts-in-process.ts';
import { FaultyStore } from '../../store/faulty-store.ts';
import { APP, CONFIG, commit } from '../fake-host.ts';
import { LAYOUT, TENANT } from '../schedulers.ts';
import { openStand, type Stand } from '../stand.ts';

const LAYOUT_2 = LAYOUT.replace('name: unit\n', 'name: style\n').replace('[unit]', '[style]');

async function open(stand: Stand, store: Store = stand.store) {
  const { paths } = stand;
  await ensureNode(stand.store, paths.tenant('acme').layout);
  for (const project of [CONFIG, APP]) await ensureNode(stand.store, paths.cachedConfigs('acme', project));
  const deps = {
    ...stand,
    store,
    tenant: TENANT,
    connections: new Map(),
    layouts: createLayouts(layoutsInProcess(new Map([['local', gitDriver]]), () => performance.now())),
  } as unknown as ReconfigureDeps;
  const fence = await stand.fence('tenant');
  return {
    deps,
    write: (config: Omit<TenantConfig, 'node'>) =>
      storeLayout(config, [CONFIG, APP], [], { ...deps, store: stand.store }, fence),
  };
}

async function configOf(
  deps: ReconfigureDeps,
  text: string,
  version: number,
): Promise<Omit<TenantConfig, 'node'>> {
  const files = (project: typeof APP, content: string): BranchConfig => ({
    project,
    branch: 'master',
    commit: commit(content),
    files: content === '' ? [] : [{ path: 'zuul.yaml', text: content }],
  });
  const branches = [files(CONFIG, text), files(APP, '')].reduce(
    (all, each) => withProject(all, each.project, [each], new Set(['master'])),
    new Map() as TenantConfig['branches'],
  );
  return {
    tenant: TENANT,
    branches,
    layout: await layoutFrom(TENANT, branches, deps),
    retired: [],
    version,
    reconfiguredAt: deps.clock.now(),
  };
}

const jobsIn = (config: TenantConfig | undefined) => config?.layout.jobs ?? [];

describe('a layout that is followed', () => {
  test('is that of the record, and the next one when that is there', async () => {
    await using stand = openStand();
    const { deps, write } = await open(stand);
    using layout = openTenantLayout(deps);
    await layout.refresh();
    expect(layout.current).toBeUndefined();
    await write(await configOf(deps, LAYOUT, 1));
    await layout.upToDate();
    expect(jobsIn(layout.current)).toEqual(['base', 'unit']);
    await write(await configOf(deps, LAYOUT_2, 2));
    await layout.upToDate();
    expect([jobsIn(layout.current), layout.current?.version]).toEqual([['base', 'style'], 2]);
    const cached = await stand.store.children(stand.paths.cachedConfigs('acme', CONFIG));
    expect(cached).toHaveLength(1);
  });

  test('is never a mixture: files that go while they are read mean that a newer record is there', async () => {
    await using stand = openStand();
    const faulty = new FaultyStore(stand.connect());
    const { deps, write } = await open(stand, faulty);
    await write(await configOf(deps, LAYOUT, 1));
    const getMany = faulty.getMany.bind(faulty);
    let overtaken = false;
    faulty.getMany = async paths => {
      if (!overtaken) {
        overtaken = true;
        await write(await configOf(deps, LAYOUT_2, 2));
      }
      return getMany(paths);
    };
    using layout = openTenantLayout(deps);
    await layout.refresh();
    await layout.upToDate();
    expect([jobsIn(layout.current), layout.current?.version]).toEqual([['base', 'style'], 2]);
  });

  test('is not adopted while its files are missing, and is once they are there again', async () => {
    await using stand = openStand();
    const { deps, write } = await open(stand);
    const config = await write(await configOf(deps, LAYOUT, 1));
    const base = stand.paths.cachedConfigs('acme', CONFIG);
    const [name = ''] = (await stand.store.children(base)) ?? [];
    await stand.store.multi([remove(`${base}/${name}`)]);
    using layout = openTenantLayout(deps);
    await layout.refresh();
    await expect(layout.upToDate()).rejects.toThrow('are gone from the store');
    expect(layout.current).toBeUndefined();
    await write({ ...config, version: 2 });
    await layout.upToDate();
    expect(jobsIn(layout.current)).toEqual(['base', 'unit']);
  });

  test('of a newer version is left to upgraded schedulers', async () => {
    await using stand = openStand();
    const { deps } = await open(stand);
    const newer = new TextEncoder().encode('{"k":"layout","v":99,"d":{}}');
    await stand.store.multi([set(stand.paths.tenant('acme').layout, newer)]);
    using layout = openTenantLayout(deps);
    await layout.refresh();
    await expect(layout.upToDate()).rejects.toThrow(/understands up to/);
  });

  test('written by a version that did not say what it was built from is not adopted', async () => {
    await using stand = openStand();
    const { deps, write } = await open(stand);
    await write(await configOf(deps, LAYOUT, 1));
    const { layout: path } = stand.paths.tenant('acme');
    const stored = layoutSummaryCodec.decode((await stand.store.get(path))?.data ?? new Uint8Array());
    const old = JSON.stringify({ k: 'layout', v: 1, d: { ...stored, builtFrom: undefined } });
    await stand.store.multi([set(path, new TextEncoder().encode(old))]);
    using layout = openTenantLayout(deps);
    await layout.refresh();
    await layout.upToDate();
    expect(layout.current).toBeUndefined();
  });
});
