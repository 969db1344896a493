/**
 * Whose a trace is: the items, of whatever tenant, that it tells of. A trace is ours when its id is the uuid of an item, of a
 * build (of a long job, which has a trace of its own), or of the events an item came of.
 *
 * They are looked for where an item can be, in the order in which it moves, so that none is missed on its way: live, in the
 * outbox on its way into the history, in the history. The outbox is read once for all traces of a request, and only if one of them
 * is not of a live item. The history does not know its items by event: the trace of an event all of whose items have left long
 * ago is nobody's.
 */
import type { TraceId } from '../lib/ids.ts';
import { buildsetsOf, type QueueItem } from '../model/queue-item.ts';
import type { Caller } from './auth/caller.ts';
import type { WebDeps } from './deps.ts';
import { liveItems } from './tenant-access.ts';

export type ItemsOfTrace = (trace: TraceId) => Promise<readonly QueueItem[]>;

export type TraceDeps = Pick<WebDeps, 'tenants' | 'snapshot' | 'history' | 'leavingItems'>;

/** What tells of no item is nobody's. */
export function mayActFor(caller: Caller, items: readonly QueueItem[]): boolean {
  if (items.length === 0 || caller.kind === 'here') return true;
  return caller.kind === 'user' && items.some(({ tenant }) => caller.user.tenants.includes(tenant));
}

/** @param traces all that will be asked for. */
export function itemsOfTraces(deps: TraceDeps, traces: readonly TraceId[]): ItemsOfTrace {
  const wanted = new Set<string>(traces);
  let leaving: Promise<readonly QueueItem[]> | undefined;
  return async trace => {
    const isOf = (item: QueueItem) => tracesOf(item).some(each => each === trace);
    const live = deps.tenants().flatMap(name => {
      const snapshot = deps.snapshot(name);
      return snapshot === undefined ? [] : [...liveItems(snapshot).filter(isOf)];
    });
    if (live.length > 0) return live;
    leaving ??= deps.leavingItems?.(item => tracesOf(item).some(each => wanted.has(each)));
    const gone = (await leaving)?.filter(isOf) ?? [];
    return gone.length > 0 ? gone : finishedItems(deps, trace);
  };
}

export function itemsOfTrace(deps: TraceDeps, trace: TraceId): Promise<readonly QueueItem[]> {
  return itemsOfTraces(deps, [trace])(trace);
}

async function finishedItems({ tenants, history }: TraceDeps, trace: TraceId): Promise<readonly QueueItem[]> {
  for (const tenant of tenants()) {
    const item = (await history.item(tenant, trace)) ?? (await itemOfBuild(history, tenant, trace));
    if (item !== undefined) return [item];
  }
  return [];
}

async function itemOfBuild(
  history: TraceDeps['history'],
  tenant: string,
  trace: TraceId,
): Promise<QueueItem | undefined> {
  const build = await history.build(tenant, trace);
  return build === undefined ? undefined : history.item(tenant, build.buildset.item);
}

function tracesOf(item: QueueItem): readonly string[] {
  const { event, eventSpan, tenantSpan } = item.origin;
  const builds = buildsetsOf(item).flatMap(buildset => buildset.builds.map(({ uuid }) => uuid));
  return [item.uuid, event, eventSpan.traceId, tenantSpan.traceId, ...builds];
}
