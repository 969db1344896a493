/** Questions about whole items and about decisions. */
import type { Decision } from '../model/decision.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { Database } from './schema.ts';

export interface DecisionQuestion {
  readonly tenant: string;
  /** Name or key; absent: any. */
  readonly project?: string;
  /** Id at the host (`master/login`, `123`, or `<ref>@<commit>` for ref updates) or the whole change key. */
  readonly change: string;
  /** The newest so many. Default 500. */
  readonly limit?: number;
}

/** One line of the list of finished items. */
export interface FinishedItem {
  readonly id: number;
  readonly item: QueueItem;
}

export async function findItem(
  database: Database,
  tenant: string,
  uuid: string,
): Promise<QueueItem | undefined> {
  const row = await database
    .selectFrom('item')
    .select('document')
    .where('tenant', '=', tenant)
    .where('uuid', '=', uuid)
    .executeTakeFirst();
  return row === undefined ? undefined : parseItem(row.document);
}

export async function findRecentItems(
  database: Database,
  question: { readonly tenant: string; readonly limit: number; readonly skip: number },
): Promise<readonly FinishedItem[]> {
  const rows = await database
    .selectFrom('item')
    .select(['id', 'document'])
    .where('tenant', '=', question.tenant)
    .orderBy('id', 'desc')
    .limit(question.limit)
    .offset(question.skip)
    .execute();
  return rows.map(row => ({ id: row.id, item: parseItem(row.document) }));
}

export async function findDecisions(
  database: Database,
  question: DecisionQuestion,
): Promise<readonly Decision[]> {
  const { project } = question;
  let query = database
    .selectFrom('decision')
    .select('document')
    .where('tenant', '=', question.tenant)
    .where(({ or, eb }) =>
      or([eb('change_id', '=', question.change), eb('change_key', '=', question.change)]),
    );
  if (project !== undefined) {
    query = query.where(({ or, eb }) => or([eb('project', '=', project), eb('project_key', '=', project)]));
  }
  const rows = await query
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(question.limit ?? 500)
    .execute();
  return rows.map(row => parseDecision(row.document)).toReversed();
}

/** Documents were written by `recordRows` from such a value; nobody else writes the file. */
function parseItem(document: string): QueueItem {
  return JSON.parse(document);
}

function parseDecision(document: string): Decision {
  return JSON.parse(document);
}
