import { QUERIES } from '../api/queries.ts';
import type { BuildFilter } from '../history/filters.ts';
import type { HttpRefusal } from './answer.ts';
import { readQuery } from './query.ts';

/**
 * The filter a query asks for, under Zuul's names, or the 400 that names the bad parameter.
 *
 * @param heldBuilds uuids of the builds whose hosts are held.
 */
export function readFilter(
  tenant: string,
  parameters: URLSearchParams,
  of: 'builds' | 'buildsets',
  heldBuilds: ReadonlySet<string> = new Set(),
): { readonly kind: 'filter'; readonly filter: BuildFilter } | HttpRefusal {
  const query = readQuery(parameters, QUERIES[of]);
  if (query.kind === 'refused') return query;
  const { idx_min: idxMin, idx_max: idxMax, exclude_result: excludeResult, ...same } = query.values;
  const filter = { ...same, idxMin, idxMax, excludeResult };
  if (!('job_name' in filter)) return { kind: 'filter', filter: { tenant, ...withoutUndefined(filter) } };
  const { job_name: jobName, held, uuid, ...more } = filter;
  const uuids = held === undefined ? { uuid } : heldOnly(held, heldBuilds, uuid);
  return { kind: 'filter', filter: { tenant, ...withoutUndefined({ ...more, jobName, ...uuids }) } };
}

function heldOnly(
  wanted: boolean,
  held: ReadonlySet<string>,
  asked: readonly string[] | undefined,
): Pick<BuildFilter, 'uuid' | 'excludeUuid'> {
  if (!wanted) return { ...(asked === undefined ? {} : { uuid: asked }), excludeUuid: [...held] };
  return { uuid: asked === undefined ? [...held] : asked.filter(uuid => held.has(uuid)) };
}

type Defined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

function withoutUndefined<T extends object>(value: T): Defined<T> {
  const defined: Defined<T> = { ...value };
  for (const name in defined) if (defined[name] === undefined) delete defined[name];
  return defined;
}
