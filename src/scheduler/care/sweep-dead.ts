/**
 * Leftovers of pipelines and tenants that are gone: events, requests and answers without a reader. One multi-write per pipeline or
 * tenant, which fails when the pipeline or the tenant is back.
 */
import { isBrokenRecord, isNewerRecord } from '../../model/codec/record.ts';
import { layoutSummaryCodec } from '../../model/codec/records.ts';
import type { TenantName } from '../../model/project.ts';
import { check, type Operation, remove } from '../../store/port.ts';
import { splitOperations } from '../../store/split-operations.ts';
import type { SchedulerShared } from '../shared.ts';
import type { Holdings } from './read-holdings.ts';

/** @returns lists of operations, each for a commit of its own; one that fails leaves its part for the next sweep. */
export async function deadLeftovers(
  shared: Pick<SchedulerShared, 'deps' | 'mergeRequests' | 'buildRequests'>,
  holdings: Holdings,
): Promise<readonly (readonly Operation[])[]> {
  const { store, paths } = shared.deps;
  const leftovers: (readonly Operation[])[] = [];
  for (const tenant of holdings.tenants) {
    const places = paths.tenant(tenant);
    const epoch = await store.get(places.epoch);
    const holders = (await store.children(places.lock)) ?? [];
    // The tenant has no holder, so its answers have no reader. A new holder raises the epoch before it asks.
    if (epoch !== undefined && holders.length === 0) {
      const guard = [check(places.epoch, epoch.stat.version)];
      leftovers.push(...(await childrenOf(places.answers, guard, shared)));
    }
    const layout = await knownPipelines(tenant, shared);
    if (layout === undefined) continue;
    for (const { pipeline } of holdings.pipelines.filter(
      each => each.tenant === tenant && each.items === 0 && !layout.pipelines.has(each.pipeline),
    )) {
      const guard = [check(places.layout, layout.version)];
      const { eventQueue } = paths.pipeline(tenant, pipeline);
      leftovers.push(...(await childrenOf(eventQueue, guard, shared)));
      for (const outbox of [paths.reportOutbox(tenant, pipeline), paths.messageOutbox(tenant, pipeline)])
        leftovers.push(...(await childrenOf(outbox, guard, shared)));
      leftovers.push(...(await requestsOf(tenant, pipeline, guard, shared)));
    }
  }
  return leftovers;
}

async function childrenOf(
  path: string,
  guard: readonly Operation[],
  { deps: { store } }: Pick<SchedulerShared, 'deps'>,
): Promise<readonly (readonly Operation[])[]> {
  const names = (await store.children(path)) ?? [];
  return splitOperations(names.map(name => remove(`${path}/${name}`))).map(part => [...guard, ...part]);
}

async function requestsOf(
  tenant: string,
  pipeline: string,
  guard: readonly Operation[],
  { mergeRequests, buildRequests }: Pick<SchedulerShared, 'mergeRequests' | 'buildRequests'>,
): Promise<readonly (readonly Operation[])[]> {
  const merges = (await mergeRequests.list()).filter(
    ({ value }) => value.tenant === tenant && value.item?.pipeline === pipeline,
  );
  const builds = (await buildRequests.list()).filter(
    ({ value }) => value.tenant === tenant && value.pipeline === pipeline,
  );
  const operations = [
    ...(await mergeRequests.withdrawAll(merges.map(({ uuid }) => uuid))),
    ...(await buildRequests.withdrawAll(builds.map(({ uuid }) => uuid))),
  ];
  return operations.map(operation => [...guard, operation]);
}

/** @returns undefined when the tenant has no layout, or one that cannot be read. */
async function knownPipelines(
  tenant: TenantName,
  { deps: { store, paths } }: Pick<SchedulerShared, 'deps'>,
): Promise<{ readonly pipelines: ReadonlySet<string>; readonly version: number } | undefined> {
  const node = await store.get(paths.tenant(tenant).layout);
  if (node === undefined || node.data.length === 0) return undefined;
  try {
    const { pipelines, retired } = layoutSummaryCodec.decode(node.data);
    const names = [...pipelines, ...retired].map(({ name }) => name);
    return { pipelines: new Set(names), version: node.stat.version };
  } catch (error) {
    if (isNewerRecord(error) || isBrokenRecord(error)) return undefined;
    throw error;
  }
}
