/**
 * Queries for builds and buildsets; the database filters, sorts and pages.
 *
 * Lists follow an index that begins with the tenant and ends with the id, newest first, so that the newest page costs the same
 * in a history of any length. No join: a planner that begins with the buildsets would sort all builds.
 */

import type { BuildFacts, BuildsetFacts } from './build-facts.ts';
import {
  type BuildFilter,
  type BuildsetFilter,
  buildsetFits,
  DEFAULT_LIMIT,
  isNoneOf,
  isOneOf,
  MAX_LIMIT,
  someRefFits,
} from './filters.ts';
import type { RefRow } from './item-rows.ts';
import type { Database } from './schema.ts';

/** Newest first, each with all its changes. */
export async function findBuildsets(
  database: Database,
  filter: BuildsetFilter,
): Promise<readonly BuildsetFacts[]> {
  let query = database
    .selectFrom('buildset')
    .selectAll()
    .where('buildset.tenant', '=', filter.tenant)
    .where(isOneOf('buildset.uuid', filter.uuid))
    .where(isOneOf('buildset.pipeline', filter.pipeline))
    .where(isOneOf('buildset.result', filter.result))
    .where(isNoneOf('buildset.result', filter.excludeResult))
    .where(someRefFits(filter));
  if (filter.complete !== undefined)
    query = query.where('buildset.result', filter.complete ? 'is not' : 'is', null);
  if (filter.idxMin !== undefined) query = query.where('buildset.id', '>=', filter.idxMin);
  if (filter.idxMax !== undefined) query = query.where('buildset.id', '<=', filter.idxMax);
  const found = await query
    .orderBy('buildset.id', 'desc')
    .limit(limitOf(filter))
    .offset(filter.skip ?? 0)
    .execute();
  const refs = await refsOf(
    database,
    found.map(buildset => buildset.id),
  );
  return found.map(buildset => ({ ...buildset, refs: refs.get(buildset.id) ?? [] }));
}

/** Newest first. Buildsets and changes are read by id, in one query each. */
export async function findBuilds(database: Database, filter: BuildFilter): Promise<readonly BuildFacts[]> {
  let query = database
    .selectFrom('build')
    .selectAll('build')
    .where('build.tenant', '=', filter.tenant)
    .where(isOneOf('build.uuid', filter.uuid))
    .where(isOneOf('build.job_name', filter.jobName))
    .where(isOneOf('build.worker', filter.worker))
    .where(isOneOf('build.result', filter.result))
    .where(isNoneOf('build.result', filter.excludeResult))
    .where(isNoneOf('build.uuid', filter.excludeUuid))
    .where(buildsetFits(filter));
  if (filter.complete !== undefined)
    query = query.where('build.result', filter.complete ? 'is not' : 'is', null);
  if (filter.voting !== undefined) query = query.where('build.voting', '=', filter.voting ? 1 : 0);
  if (filter.final !== undefined) query = query.where('build.final', '=', filter.final ? 1 : 0);
  if (filter.idxMin !== undefined) query = query.where('build.id', '>=', filter.idxMin);
  if (filter.idxMax !== undefined) query = query.where('build.id', '<=', filter.idxMax);
  const found = await query
    .orderBy('build.id', 'desc')
    .limit(limitOf(filter))
    .offset(filter.skip ?? 0)
    .execute();
  const ids = [...new Set(found.map(build => build.buildset_id))];
  const [buildsets, refs] = [await buildsetsById(database, ids), await refsOf(database, ids)];
  return found.flatMap(build => {
    const buildset = buildsets.get(build.buildset_id);
    const changes = refs.get(build.buildset_id) ?? [];
    const [ref] = changes;
    const { tenant: _, ...row } = build;
    return buildset === undefined || ref === undefined ? [] : [{ ...row, buildset, ref, refs: changes }];
  });
}

function limitOf(filter: BuildsetFilter): number {
  return Math.min(filter.limit ?? DEFAULT_LIMIT, MAX_LIMIT);
}

async function buildsetsById(database: Database, ids: readonly number[]) {
  if (ids.length === 0) return new Map();
  const rows = await database.selectFrom('buildset').selectAll().where('id', 'in', ids).execute();
  return new Map(rows.map(row => [row.id, row]));
}

async function refsOf(
  database: Database,
  ids: readonly number[],
): Promise<ReadonlyMap<number, readonly RefRow[]>> {
  if (ids.length === 0) return new Map();
  const rows = await database
    .selectFrom('buildset_ref')
    .selectAll()
    .where('buildset_id', 'in', ids)
    .orderBy('position')
    .execute();
  return Map.groupBy(rows, row => row.buildset_id);
}
