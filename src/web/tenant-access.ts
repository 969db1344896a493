/** Finds the tenant, item or build that a path names, or returns a 404 that names the missing one. */

import type { RequestHandler } from 'express';
import type { TenantSnapshot } from '../api/tenant-snapshot.ts';
import type { BuildFacts } from '../history/build-facts.ts';
import { rowsOfItem } from '../history/item-rows.ts';
import { isUuid } from '../lib/ids.ts';
import { buildsetsOf, type QueueItem } from '../model/queue-item.ts';
import { type Answer, answering, type HttpRefusal, notFound, type ReadRequest } from './answer.ts';
import { isHidden } from './auth/permission.ts';
import type { WebDeps } from './deps.ts';

/** With the snapshot as of the begin of the request, which later changes do not affect. */
export interface FoundTenant {
  readonly kind: 'found';
  readonly name: string;
  readonly snapshot: TenantSnapshot;
}

function tenantOf(
  deps: Pick<WebDeps, 'snapshot' | 'tenants' | 'auth'>,
  request: ReadRequest,
): FoundTenant | HttpRefusal {
  const name = request.parameter('tenant');
  const snapshot = deps.snapshot(name);
  if (snapshot !== undefined) return { kind: 'found', name, snapshot };
  const { rules } = deps.auth;
  const known = deps.tenants().filter(tenant => !isHidden(rules, tenant));
  return notFound(
    `there is no tenant ${JSON.stringify(name)}; known: ${known.join(', ') || 'none'}`,
    'path: tenant',
  );
}

/** All items in the queues of a tenant. */
export function* liveItems(snapshot: TenantSnapshot): Generator<QueueItem> {
  for (const { state } of snapshot.pipelines) yield* state.items.values();
}

/** Finds an item that is live, in the history outbox, or in the history. */
export async function findItemOfTenant(
  deps: Pick<WebDeps, 'history' | 'leavingItems'>,
  tenant: FoundTenant,
  uuid: string,
): Promise<{ readonly kind: 'item'; readonly item: QueueItem } | HttpRefusal> {
  const item = isUuid(uuid)
    ? (liveItems(tenant.snapshot).find(live => live.uuid === uuid) ??
      (await deps.leavingItems?.(left => left.uuid === uuid && left.tenant === tenant.name))?.[0] ??
      (await deps.history.item(tenant.name, uuid)))
    : undefined;
  return item === undefined
    ? notFound(`there is no item ${uuid.slice(0, 64)} in tenant ${tenant.name}`, 'path: item')
    : { kind: 'item', item };
}

/** The live item that has a given build or buildset. */
function liveItemWith(snapshot: TenantSnapshot, uuid: string): QueueItem | undefined {
  return liveItems(snapshot).find(item =>
    buildsetsOf(item).some(
      buildset => buildset.uuid === uuid || buildset.builds.some(build => build.uuid === uuid),
    ),
  );
}

/** A build of a live item, or of the history. */
export async function findBuild(
  deps: Pick<WebDeps, 'history'>,
  tenant: FoundTenant,
  uuid: string,
): Promise<BuildFacts | undefined> {
  if (!isUuid(uuid)) return undefined;
  const item = liveItemWith(tenant.snapshot, uuid);
  for (const rows of item === undefined ? [] : rowsOfItem(item)) {
    const build = rows.builds.find(candidate => candidate.uuid === uuid);
    const ref = rows.refs[0];
    if (build !== undefined && ref !== undefined)
      return { ...build, id: null, buildset: rows.buildset, ref, refs: rows.refs };
  }
  return deps.history.build(tenant.name, uuid);
}

/** Likewise, with its builds. */
export async function findBuildset(deps: Pick<WebDeps, 'history'>, tenant: FoundTenant, uuid: string) {
  if (!isUuid(uuid)) return undefined;
  const item = liveItemWith(tenant.snapshot, uuid);
  const rows =
    item === undefined ? undefined : rowsOfItem(item).find(candidate => candidate.buildset.uuid === uuid);
  if (rows === undefined) return deps.history.buildset(tenant.name, uuid);
  return {
    buildset: { ...rows.buildset, id: null, refs: rows.refs },
    builds: rows.builds.map(build => ({ ...build, id: null })),
  };
}

/** A route below `/api/tenant/:tenant`. */
export function inTenant(
  deps: Pick<WebDeps, 'snapshot' | 'tenants' | 'auth'>,
  route: (tenant: FoundTenant, request: ReadRequest) => Promise<Answer>,
): RequestHandler {
  return answering(async request => {
    const tenant = tenantOf(deps, request);
    return tenant.kind === 'refused' ? tenant : route(tenant, request);
  });
}
