/**
 * Filters of lists, under Zuul's names. Several values of one field mean "one of these". Except in
 * uuids a `*` stands for any text; every other character is literal, including those with a meaning in SQL.
 *
 * The tenant is no filter: every query names it.
 */
import { type RawBuilder, sql } from 'kysely';

/** An absent field does not restrict the answer. */
export interface BuildsetFilter {
  readonly tenant: string;
  /** Name as the host has it, or the whole project key. */
  readonly project?: readonly string[];
  readonly pipeline?: readonly string[];
  readonly change?: readonly string[];
  readonly branch?: readonly string[];
  readonly patchset?: readonly string[];
  readonly ref?: readonly string[];
  readonly newrev?: readonly string[];
  readonly uuid?: readonly string[];
  readonly result?: readonly string[];
  /** None of these; rows without a result fit. */
  readonly excludeResult?: readonly string[];
  /** Has a result. */
  readonly complete?: boolean;
  /** Inclusive bounds of `_id`. */
  readonly idxMin?: number;
  readonly idxMax?: number;
  /** At most 1000. Default 50. */
  readonly limit?: number;
  /** At most {@link MAX_SKIP}; for older rows use `idxMax` and the `_id` of the last one seen. */
  readonly skip?: number;
}

/** `uuid`, `result`, `excludeResult`, `complete` and the bounds of `_id` are those of builds here. */
export interface BuildFilter extends BuildsetFilter {
  readonly jobName?: readonly string[];
  /** Names of the executors that took them. */
  readonly worker?: readonly string[];
  readonly voting?: boolean;
  readonly final?: boolean;
  /** None of these builds. */
  readonly excludeUuid?: readonly string[];
}

/** Rows of a list whose filter names no limit. */
export const DEFAULT_LIMIT = 50;
/** Larger limits are lowered to this. */
export const MAX_LIMIT = 1000;
/** Skipped rows are read too. */
export const MAX_SKIP = 10_000;

type Column =
  | 'build.uuid'
  | 'build.job_name'
  | 'build.worker'
  | 'build.result'
  | 'buildset.uuid'
  | 'buildset.result'
  | 'buildset.pipeline'
  | 'buildset_ref.project'
  | 'buildset_ref.project_key'
  | 'buildset_ref.change'
  | 'buildset_ref.branch'
  | 'buildset_ref.patchset'
  | 'buildset_ref.ref'
  | 'buildset_ref.newrev';

/** True where `column` is one of `values`; undefined values are no restriction. */
export function isOneOf(column: Column, values: readonly string[] | undefined): RawBuilder<boolean> {
  if (values === undefined) return sql<boolean>`1 = 1`;
  const tests = values.map(value =>
    value.includes('*') && !column.endsWith('.uuid')
      ? sql<boolean>`${sql.ref(column)} like ${likePattern(value)} escape '\\'`
      : sql<boolean>`${sql.ref(column)} = ${value}`,
  );
  return tests.length === 0 ? sql<boolean>`1 = 0` : sql<boolean>`(${sql.join(tests, sql` or `)})`;
}

/** True where `column` is none of `values`, or null; undefined values are no restriction. */
export function isNoneOf(column: Column, values: readonly string[] | undefined): RawBuilder<boolean> {
  return values === undefined || values.length === 0
    ? sql<boolean>`1 = 1`
    : sql<boolean>`(${sql.ref(column)} is null or not ${isOneOf(column, values)})`;
}

function likePattern(value: string): string {
  return value.replaceAll(/[\\%_]/g, '\\$&').replaceAll('*', '%');
}

/** The build's buildset is of the pipeline and has such a change. */
export function buildsetFits(filter: BuildsetFilter): RawBuilder<boolean> {
  if (filter.pipeline === undefined && saysNothingOfChanges(filter)) return sql<boolean>`1 = 1`;
  return sql<boolean>`exists (select 1 from buildset where buildset.id = build.buildset_id
    and ${isOneOf('buildset.pipeline', filter.pipeline)} and ${someRefFits(filter)})`;
}

function saysNothingOfChanges({ project, change, branch, patchset, ref, newrev }: BuildsetFilter): boolean {
  return [project, change, branch, patchset, ref, newrev].every(values => values === undefined);
}

/** One change of the buildset fits all filters on changes. */
export function someRefFits(filter: BuildsetFilter): RawBuilder<boolean> {
  const { project, change, branch, patchset, ref, newrev } = filter;
  if (saysNothingOfChanges(filter)) return sql<boolean>`1 = 1`;
  return sql<boolean>`exists (select 1 from buildset_ref where buildset_ref.buildset_id = buildset.id
    and (${isOneOf('buildset_ref.project', project)} or ${isOneOf('buildset_ref.project_key', project)})
    and ${isOneOf('buildset_ref.change', change)} and ${isOneOf('buildset_ref.branch', branch)}
    and ${isOneOf('buildset_ref.patchset', patchset)} and ${isOneOf('buildset_ref.ref', ref)}
    and ${isOneOf('buildset_ref.newrev', newrev)})`;
}
