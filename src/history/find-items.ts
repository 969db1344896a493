/** Queries for whole items and for decisions. */
import { type Nanoseconds, parseNanoseconds } from '../lib/clock.ts';
import type { Decision } from '../model/decision.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { Database } from './schema.ts';

/** Asks for the decisions about one change. */
export interface DecisionQuestion {
  readonly tenant: string;
  /** Name or key; absent: any. */
  readonly project?: string;
  /** Id at the host (`master/login`, `123`, or `<ref>@<commit>` for ref updates) or the whole change key. */
  readonly change: string;
  /** Number of the newest to return. Default 500. */
  readonly limit?: number;
}

/** One line of the list of finished items. */
export interface FinishedItemRow {
  readonly id: number;
  readonly item: QueueItem;
}

/** Asks for items that left from `since` on and before `until`, one page of them. */
export interface LeftQuestion {
  readonly tenant: string;
  /** Absent: any. */
  readonly pipeline?: string;
  readonly since: Nanoseconds;
  /** Absent: until now. */
  readonly until?: Nanoseconds;
  /** `next` of the previous page; absent: the first page. */
  readonly before?: number;
  /** Maximum number of items per page. */
  readonly limit: number;
}

/** One page of the items that left in a period. */
export interface LeftPage {
  /** Newest first. */
  readonly items: readonly QueueItem[];
  /** Start of the next page; null: this was the last. A page may be empty without being the last. */
  readonly next: number | null;
  /** When the oldest row read left, whether it matched or not; null: there was none. */
  readonly reached: Nanoseconds | null;
}

/** Rows read for one page, so that a query for a quiet pipeline of a busy tenant costs no more than any other. */
const ROWS_PER_PAGE = 1000;

/** Undefined: still in its queue, deleted for its age, or of another tenant. */
export async function findFinishedItem(
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

/** Newest first, in the order in which they were recorded. */
export async function findRecentItems(
  database: Database,
  question: { readonly tenant: string; readonly limit: number; readonly skip: number },
): Promise<readonly FinishedItemRow[]> {
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

/**
 * Rows are in the order in which items were recorded, which is nearly that of leaving: a whole page of rows that
 * left before `since` is the end.
 */
export async function findItemsLeft(database: Database, question: LeftQuestion): Promise<LeftPage> {
  let query = database
    .selectFrom('item')
    .select(['id', 'pipeline', 'left_at'])
    .where('tenant', '=', question.tenant);
  if (question.before !== undefined) query = query.where('id', '<', question.before);
  const rows = await query.orderBy('id', 'desc').limit(ROWS_PER_PAGE).execute();
  const wanted = rows.filter(row => isWanted(row, question)).map(row => row.id);
  const page = wanted.slice(0, question.limit);
  const isEnd = rows.length < ROWS_PER_PAGE || rows.every(row => row.left_at < question.since);
  const isFull = wanted.length > page.length;
  const last = isFull ? rows.find(row => row.id === page.at(-1)) : rows.at(-1);
  return {
    items: await itemsById(database, page),
    next: last === undefined || (isEnd && !isFull) ? null : last.id,
    reached: last === undefined ? null : parseNanoseconds(last.left_at),
  };
}

function isWanted(
  row: { readonly pipeline: string; readonly left_at: string },
  { pipeline, since, until }: LeftQuestion,
): boolean {
  if (pipeline !== undefined && row.pipeline !== pipeline) return false;
  return row.left_at >= since && (until === undefined || row.left_at < until);
}

/** Newest first; an id without a row is left out. */
export async function itemsById(database: Database, ids: readonly number[]): Promise<readonly QueueItem[]> {
  if (ids.length === 0) return [];
  const rows = await database
    .selectFrom('item')
    .select('document')
    .where('id', 'in', ids)
    .orderBy('id', 'desc')
    .execute();
  return rows.map(row => parseItem(row.document));
}

/** Oldest first; where there are more than `limit`, the newest of them. */
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

/** Documents were written by `recordRows` from such a value; no other program writes the file. */
export function parseItem(document: string): QueueItem {
  return JSON.parse(document);
}

function parseDecision(document: string): Decision {
  return JSON.parse(document);
}
