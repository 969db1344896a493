/**
 * The finished items of a whole installation, oldest first, for its operator: can run beside the service, changes nothing,
 * not even the version of the tables.
 *
 *     const opened = await openFinishedItems({ kind: 'sqlite', path: '/var/lib/gatehouse/history.sqlite' });
 *     if (opened.kind === 'refused') …opened.text
 *     let page = await opened.items.page({ since, until, after: 0 });
 *
 * Queries of users go to history.ts, which never reads beyond one tenant.
 */
import { existsSync } from 'node:fs';
import { Kysely } from 'kysely';
import type { Nanoseconds } from '../lib/clock.ts';
import type { TraceId } from '../lib/ids.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { SpanRecord } from '../model/span.ts';
import { parseItem } from './find-items.ts';
import { type HistoryPlace, historyPlaceText } from './history.ts';
import { refuseOtherVersion } from './migrations.ts';
import { postgresDialect } from './postgres-dialect.ts';
import type { HistoryTables } from './schema.ts';
import { readOnlySqliteDialect } from './sqlite-dialect.ts';

/** An open history, for commands of the operator such as `trace-export`. Dispose of it to close the database. */
export interface FinishedItems extends AsyncDisposable {
  /** Id of the service that recorded them: `service.instance.id` of its spans. Null: no service of this version has written yet. */
  readonly installation: string | null;
  /** Items that fit the question, in the order in which they were recorded. */
  page(question: FinishedItemsQuestion): Promise<FinishedItemsPage>;
  /** Traces of events, requests and passes, in the order in which they were recorded. */
  traces(question: Pick<FinishedItemsQuestion, 'since' | 'until' | 'after'>): Promise<TracesPage>;
  /** The traces with these ids that exist. */
  tracesOf(ids: readonly TraceId[]): Promise<readonly SpanRecord[]>;
}

/** Traces of events, requests and passes: those of items are drawn from the items. */
export interface TracesPage {
  readonly spans: readonly SpanRecord[];
  /** Null: this was the last page. */
  readonly next: number | null;
}

/** An absent field does not restrict the answer. */
interface FinishedItemsQuestion {
  /** Left then or later. */
  readonly since?: Nanoseconds;
  /** Left before. */
  readonly until?: Nanoseconds;
  readonly tenant?: string;
  readonly pipeline?: string;
  readonly uuids?: readonly string[];
  /** `next` of the previous page; 0 for the first. */
  readonly after: number;
}

/** A page is small: whole items are in memory. */
export interface FinishedItemsPage {
  /** In the order in which they were recorded, which is nearly that of leaving. */
  readonly items: readonly QueueItem[];
  /** Null: this was the last page. */
  readonly next: number | null;
}

/** A refusal is for the operator to read. */
export type OpenedItems =
  | { readonly kind: 'opened'; readonly items: FinishedItems }
  /** @property text one line for the operator: another version, no database, server unreachable. */
  | { readonly kind: 'refused'; readonly text: string };

/** An item's document is below 1 MB, as its record in the store was: this many are in memory at a time. */
const ITEMS_PER_PAGE = 25;
/** A few KB each. */
const TRACES_PER_PAGE = 500;

/** Creates and upgrades nothing: a missing file or another version is refused. */
export async function openFinishedItems(place: HistoryPlace): Promise<OpenedItems> {
  const name = historyPlaceText(place);
  if (place.kind === 'sqlite' && !existsSync(place.path))
    return {
      kind: 'refused',
      text: `there is no history at ${name}; is [database] or [scheduler] state_dir right?`,
    };
  const database = new Kysely<HistoryTables>({
    dialect:
      place.kind === 'sqlite'
        ? readOnlySqliteDialect(place.path)
        : postgresDialect(place.uri.reveal(), () => {}, 'read'),
  });
  try {
    const other = await refuseOtherVersion(database, place.kind, name);
    if (other !== undefined) {
      await database.destroy();
      return { kind: 'refused', text: other };
    }
    const { installation } = await database
      .selectFrom('identity')
      .select('installation')
      .executeTakeFirstOrThrow();
    return {
      kind: 'opened',
      items: {
        installation,
        page: question => findPage(database, question),
        traces: question => findTraces(database, question),
        tracesOf: ids => findTracesOf(database, ids),
        [Symbol.asyncDispose]: () => database.destroy(),
      },
    };
  } catch (error) {
    await database.destroy();
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: 'refused', text: `the history database ${name} cannot be read: ${reason}` };
  }
}

async function findPage(
  database: Kysely<HistoryTables>,
  { since, until, tenant, pipeline, uuids, after }: FinishedItemsQuestion,
): Promise<FinishedItemsPage> {
  let query = database.selectFrom('item').select(['id', 'document']).where('id', '>', after);
  if (since !== undefined) query = query.where('left_at', '>=', asText(since));
  if (until !== undefined) query = query.where('left_at', '<', asText(until));
  if (tenant !== undefined) query = query.where('tenant', '=', tenant);
  if (pipeline !== undefined) query = query.where('pipeline', '=', pipeline);
  if (uuids !== undefined) query = query.where('uuid', 'in', uuids);
  const rows = await query.orderBy('id').limit(ITEMS_PER_PAGE).execute();
  return {
    items: rows.map(row => parseItem(row.document)),
    next: rows.length < ITEMS_PER_PAGE ? null : (rows.at(-1)?.id ?? null),
  };
}

async function findTraces(
  database: Kysely<HistoryTables>,
  { since, until, after }: Pick<FinishedItemsQuestion, 'since' | 'until' | 'after'>,
): Promise<TracesPage> {
  let query = database.selectFrom('trace').select(['id', 'document']).where('id', '>', after);
  if (since !== undefined) query = query.where('ended_at', '>=', asText(since));
  if (until !== undefined) query = query.where('ended_at', '<', asText(until));
  const rows = await query.orderBy('id').limit(TRACES_PER_PAGE).execute();
  return {
    spans: rows.flatMap(row => parseSpans(row.document)),
    next: rows.length < TRACES_PER_PAGE ? null : (rows.at(-1)?.id ?? null),
  };
}

async function findTracesOf(
  database: Kysely<HistoryTables>,
  ids: readonly TraceId[],
): Promise<readonly SpanRecord[]> {
  if (ids.length === 0) return [];
  const query = database.selectFrom('trace').select('document').where('trace_id', 'in', ids);
  const rows = await query.orderBy('id').execute();
  return rows.flatMap(row => parseSpans(row.document));
}

/** Recorded by this program. */
function parseSpans(document: string): readonly SpanRecord[] {
  return JSON.parse(document);
}

/** In the stored form, whose text order is time order: times before 2001-09-09 have fewer digits. */
function asText(time: Nanoseconds): string {
  return time.padStart(19, '0');
}
