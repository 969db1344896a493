/**
 * The items, of any tenant, that a trace belongs to. A trace is ours if its id is the uuid of an item, of a build (a long job has a
 * trace of its own), or of an event that enqueued an item.
 *
 * Items are searched in the order in which they move, so that none is missed: live, in the history outbox, in the history. The outbox
 * is read once for all traces of a request, and only if one of them belongs to no live item. The history has no index by event: the
 * trace of an event whose items all left long ago belongs to no item.
 */
import type { TraceId } from '../lib/ids.ts';
import { buildsetsOf, type QueueItem } from '../model/queue-item.ts';
import type { Authentication, Caller } from './auth/caller.ts';
import { mayOperate } from './auth/permission.ts';
import type { WebDeps } from './deps.ts';
import { liveItems } from './tenant-access.ts';

/** Empty: the trace is not ours, or too old to be found. May query the history. */
export type ItemsOfTrace = (trace: TraceId) => Promise<readonly QueueItem[]>;

/** Where items are found; all read memory but the history and its outbox. */
export type TraceDeps = Pick<WebDeps, 'tenants' | 'snapshot' | 'history' | 'leavingItems'>;

/** A trace without items is open to every caller. */
export function mayActFor(
  { rules }: Pick<Authentication, 'rules'>,
  caller: Caller,
  items: readonly QueueItem[],
): boolean {
  if (items.length === 0 || caller.kind === 'here') return true;
  return caller.kind === 'user' && items.some(({ tenant }) => mayOperate(rules, caller.user, tenant));
}

/** @param traces all traces the result will be called with. */
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

/** For a single trace; {@link itemsOfTraces} shares the outbox between several. */
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
