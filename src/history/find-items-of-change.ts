/** Finished items of one change, by the index of changes: the length of the history does not matter. */
import type { ProjectKey } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { itemsById } from './find-items.ts';
import type { Database } from './schema.ts';

/** Asks for the items that had a change. */
export interface ItemsOfChangeQuestion {
  readonly tenant: string;
  /** Name as the host has it. */
  readonly project: string;
  /** Absent: that project of any connection. */
  readonly projectKey?: ProjectKey;
  /** Id at the host. */
  readonly change: string;
  /** Absent: any. */
  readonly patchset?: string;
  /** Maximum number of items. */
  readonly limit: number;
}

/** Newest first, in the order in which they were recorded. */
export async function findItemsOfChange(
  database: Database,
  { tenant, project, projectKey, change, patchset, limit }: ItemsOfChangeQuestion,
): Promise<readonly QueueItem[]> {
  let query = database
    .selectFrom('buildset_ref')
    .innerJoin('buildset', 'buildset.id', 'buildset_ref.buildset_id')
    .innerJoin('item', 'item.uuid', 'buildset.item')
    .select('item.id')
    .distinct()
    .where('buildset_ref.project', '=', project)
    .where('buildset_ref.change', '=', change)
    .where('buildset.tenant', '=', tenant);
  if (projectKey !== undefined) query = query.where('buildset_ref.project_key', '=', projectKey);
  if (patchset !== undefined) query = query.where('buildset_ref.patchset', '=', patchset);
  const rows = await query.orderBy('item.id', 'desc').limit(limit).execute();
  return itemsById(
    database,
    rows.map(row => row.id),
  );
}
