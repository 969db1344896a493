/**
 * Forgetting what is older than `[history] keep`, in steps that are short enough for others to have their turn between two.
 *
 * Rows are in the order in which they were recorded, which is that of time but for moments: the oldest rows are looked at, and
 * when none of them is old enough, none is.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Database } from './schema.ts';

export interface Pruned {
  /** Queue items; their buildsets and builds go with them. */
  readonly items: number;
  readonly decisions: number;
}

export async function prune(
  database: Database,
  { before, most }: { readonly before: Nanoseconds; readonly most: number },
): Promise<Pruned> {
  return database.transaction().execute(async transaction => {
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
    return { items: Number(items.numDeletedRows), decisions: Number(decisions.numDeletedRows) };
  });
}
