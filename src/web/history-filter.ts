import { type BuildFilter, MAX_LIMIT, MAX_SKIP } from '../history/filters.ts';
import type { Refusal } from './answer.ts';
import { readQuery } from './query.ts';

const BUILDSET_PARAMETERS = [
  'project',
  'pipeline',
  'change',
  'branch',
  'patchset',
  'ref',
  'newrev',
  'uuid',
  'result',
  'complete',
  'idx_min',
  'idx_max',
  'limit',
  'skip',
];
const BUILD_PARAMETERS = [...BUILDSET_PARAMETERS, 'job_name', 'voting', 'final'];

/** The filter a query asks for, under Zuul's names, or the 400 that names the bad parameter. */
export function readFilter(
  tenant: string,
  parameters: URLSearchParams,
  of: 'builds' | 'buildsets',
): { readonly kind: 'filter'; readonly filter: BuildFilter } | Refusal {
  const query = readQuery(parameters, of === 'builds' ? BUILD_PARAMETERS : BUILDSET_PARAMETERS);
  const anyNumber = { min: 0, max: Number.MAX_SAFE_INTEGER };
  const filter = {
    project: query.texts('project'),
    pipeline: query.texts('pipeline'),
    change: query.texts('change'),
    branch: query.texts('branch'),
    patchset: query.texts('patchset'),
    ref: query.texts('ref'),
    newrev: query.texts('newrev'),
    uuid: query.texts('uuid'),
    result: query.texts('result'),
    complete: query.boolean('complete'),
    idxMin: query.integer('idx_min', anyNumber),
    idxMax: query.integer('idx_max', anyNumber),
    limit: query.integer('limit', { min: 1, max: MAX_LIMIT }),
    skip: query.integer('skip', { min: 0, max: MAX_SKIP }),
    jobName: query.texts('job_name'),
    voting: query.boolean('voting'),
    final: query.boolean('final'),
  };
  return query.refusal ?? { kind: 'filter', filter: { tenant, ...withoutUndefined(filter) } };
}

type Defined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

function withoutUndefined<T extends object>(value: T): Defined<T> {
  const defined: Defined<T> = { ...value };
  for (const name in defined) if (defined[name] === undefined) delete defined[name];
  return defined;
}
