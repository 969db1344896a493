/**
 * Deletes rows older than `[history] keep`, in steps that are short enough for other work between two.
 *
 * Rows are in the order in which they were recorded, which is nearly that of time: the oldest rows are read, and when none of
 * them is old enough, no row is. Of the traces of events, which may come in any number, only the newest are kept,
 * of any age.
 */

import type { Transaction } from 'kysely';
import type { Nanoseconds } from '../lib/clock.ts';
import type { Database, HistoryTables } from './schema.ts';

/** Rows that one step has deleted; all 0: there is nothing more to delete. */
export interface Pruned {
  /** Queue items; their buildsets and builds go with them. */
  readonly items: number;
  readonly decisions: number;
  /** Of events, requests and passes. */
  readonly traces: number;
}

/** Rows of a few KB each: some hundred MB at most. */
const MOST_TRACES = 100_000;

/** One bounded deletion; the caller repeats it until nothing is deleted. */
export interface PruneStep {
  /** Undefined: nothing is deleted for its age. */
  readonly before: Nanoseconds | undefined;
  /** Rows of each kind. */
  readonly most: number;
}

/** In one transaction. @param mostTraces beyond this number the oldest traces go at any age. */
export async function prune(
  database: Database,
  { before, most }: PruneStep,
  mostTraces = MOST_TRACES,
): Promise<Pruned> {
  return database.transaction().execute(async transaction => {
    const traces = await pruneTraces(transaction, { before, most }, mostTraces);
    if (before === undefined) return { items: 0, decisions: 0, traces };
    const items = await transaction
      .deleteFrom('item')
      .where('id', 'in', transaction.selectFrom('item').select('id').orderBy('id').limit(most))
      .where('left_at', '<', before)
      .executeTakeFirst();
    const decisions = await transaction
      .deleteFrom('decision')
      .where('id', 'in', transaction.selectFrom('decision').select('id').orderBy('id').limit(most))
      .where('at', '<', before)
      .executeTakeFirst();
    return { items: Number(items.numDeletedRows), decisions: Number(decisions.numDeletedRows), traces };
  });
}

async function pruneTraces(
  transaction: Transaction<HistoryTables>,
  { before, most }: PruneStep,
  mostTraces: number,
): Promise<number> {
  const { newest } = await transaction
    .selectFrom('trace')
    .select(({ fn }) => fn.max('id').as('newest'))
    .executeTakeFirstOrThrow();
  const deleted = await transaction
    .deleteFrom('trace')
    .where('id', 'in', transaction.selectFrom('trace').select('id').orderBy('id').limit(most))
    .where(({ or, eb }) =>
      or([
        eb('id', '<=', Number(newest ?? 0) - mostTraces),
        ...(before === undefined ? [] : [eb('ended_at', '<', before)]),
      ]),
    )
    .executeTakeFirst();
  return Number(deleted.numDeletedRows);
}
