/**
 * Finished work, kept in SQL: builds, buildsets, whole items and decisions.
 *
 * Rows come from the history outbox, whose drain calls {@link History.record} and deletes the recorded rows; a crash in
 * between repeats rows, and a repeated row changes nothing. Rows are written when an item leaves, so everything in here
 * is finished. Running work is in the store.
 *
 *     const history = await openHistory({ kind: 'sqlite', path: '/var/lib/gatehouse/history.sqlite' });
 *     await history.record([{ kind: 'item', item }]);
 *     const builds = await history.builds({ tenant: 'main', jobName: ['unit-tests'], result: ['FAILURE'] });
 *
 * Every query names its tenant; an answer never contains data of another tenant.
 *
 * The files of this room, in the order of reading:
 *
 *     schema, migrations       the tables, and the steps to them (sqlite-dialect, sqlite-file, postgres-dialect)
 *     record-rows, item-rows   writing; failed-tests: of tests, and the query for them
 *     find-builds, find-items, find-items-of-change    queries (filters, build-facts, expected-duration, recent-durations, recent-runs); take-finished: many of a pipeline, in pages
 *     finished-items           items of all tenants, for the operator; prune: deleting old rows
 *     threaded-history         the same interface with SQLite in threads (thread-connection, interruptible; writing-dialect, writing-table, writing-thread; reading-dialect, reading-thread)
 */
import { Kysely } from 'kysely';
import type { Secret } from '../lib/secret.ts';
import type { Decision } from '../model/decision.ts';
import type { HistoryRow } from '../model/history.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { FailedElsewhere, TestRuns } from '../model/test-results.ts';
import type { BuildFacts, BuildsetFacts, NumberedBuild } from './build-facts.ts';
import { expectedDuration } from './expected-duration.ts';
import { type ElsewhereQuestion, failedElsewhere, type TestRunsQuestion, testRuns } from './failed-tests.ts';
import type { BuildFilter, BuildsetFilter } from './filters.ts';
import { findBuilds, findBuildsets } from './find-builds.ts';
import {
  type DecisionQuestion,
  type FinishedItemRow,
  findDecisions,
  findFinishedItem,
  findItemsLeft,
  findRecentItems,
  type LeftPage,
  type LeftQuestion,
} from './find-items.ts';
import { findItemsOfChange, type ItemsOfChangeQuestion } from './find-items-of-change.ts';
import { migrate } from './migrations.ts';
import { postgresDialect } from './postgres-dialect.ts';
import { type Pruned, type PruneStep, prune } from './prune.ts';
import { type RecentDuration, recentDurations } from './recent-durations.ts';
import { type Run, type RunsQuestion, recentRuns } from './recent-runs.ts';
import { recordRows } from './record-rows.ts';
import type { HistoryTables } from './schema.ts';
import { nodeSqliteDialect } from './sqlite-dialect.ts';

/** An open database of finished work. All calls reject when the database cannot answer. */
export interface History extends HistoryQueries {
  /** Id of the database: created with it, the same for every process that opens it. */
  readonly id: string;
  /** Records the id of the installation that writes it; a later call changes nothing. */
  useFor(installation: string): Promise<void>;
  /** In one transaction; rows that exist are left unchanged. */
  record(rows: readonly HistoryRow[]): Promise<void>;
  /**
   * Deletes the oldest items that ended before a time, with everything below them.
   *
   * @param step.most items per call, and as many decisions and traces: keeps a step short.
   * @returns how many of each were deleted; all 0: nothing that old is left.
   */
  prune(step: PruneStep): Promise<Pruned>;
}

/** The part that only reads. */
export interface HistoryQueries {
  /** Newest first. */
  builds(filter: BuildFilter): Promise<readonly BuildFacts[]>;
  /** Undefined: the tenant has no such finished build. */
  build(tenant: string, uuid: string): Promise<BuildFacts | undefined>;
  /** Newest first. */
  buildsets(filter: BuildsetFilter): Promise<readonly BuildsetFacts[]>;
  /** With its builds, oldest first. Undefined: the tenant has no such finished buildset. */
  buildset(
    tenant: string,
    uuid: string,
  ): Promise<{ readonly buildset: BuildsetFacts; readonly builds: readonly NumberedBuild[] } | undefined>;
  /** The item as it was when it left. */
  item(tenant: string, uuid: string): Promise<QueueItem | undefined>;
  /** Newest first. */
  recentItems(question: {
    readonly tenant: string;
    readonly limit: number;
    readonly skip: number;
  }): Promise<readonly FinishedItemRow[]>;
  /** Items that left in a period, page by page. */
  itemsLeft(question: LeftQuestion): Promise<LeftPage>;
  /** Newest first. */
  itemsOfChange(question: ItemsOfChangeQuestion): Promise<readonly QueueItem[]>;
  /** As {@link testRuns}. */
  testRuns(question: TestRunsQuestion): Promise<ReadonlyMap<string, TestRuns>>;
  /** As {@link failedElsewhere}. */
  failedElsewhere(question: ElsewhereQuestion): Promise<ReadonlyMap<string, FailedElsewhere>>;
  /** Oldest first. */
  decisions(question: DecisionQuestion): Promise<readonly Decision[]>;
  /** Mean of the last successes of a job for a project in milliseconds; undefined: it never succeeded. */
  expectedDuration(question: {
    readonly tenant: string;
    readonly project: string;
    readonly job: string;
  }): Promise<number | undefined>;
  /** The same for all jobs of the newest builds, in one answer. */
  recentDurations(): Promise<readonly RecentDuration[]>;
  /** The newest finished builds, newest first, for statistics. */
  recentRuns(question: RunsQuestion): Promise<readonly Run[]>;
  /** A cheap query; rejects when the database cannot answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Where the history is: `[database] dburi`, or a file in the state directory of the scheduler. */
export type HistoryPlace =
  /** A path, or `:memory:`. For the processes of one machine. */
  | { readonly kind: 'sqlite'; readonly path: string }
  /** For webs on several machines. The password is in the URI. */
  | { readonly kind: 'postgresql'; readonly uri: Secret };

/**
 * Creates the tables or upgrades them to this version.
 *
 * @param onIdleError called when a PostgreSQL server drops a connection that is not in use.
 * @throws Error naming the database and the remedy, when it is unreachable, not a history, or written by a newer version.
 */
export async function openHistory(
  place: HistoryPlace,
  onIdleError: (error: Error) => void = () => {},
): Promise<History> {
  if (place.kind === 'sqlite') {
    const database = new Kysely<HistoryTables>({ dialect: nodeSqliteDialect(place.path) });
    return sqliteHistory(database, place);
  }
  await migratePostgres(place, onIdleError);
  return orDestroy(
    new Kysely<HistoryTables>({ dialect: postgresDialect(place.uri.reveal(), onIdleError) }),
    historyIn,
  );
}

/** As {@link openHistory}, over a connection to the file. @param database ends with the history, or with the error. */
export function sqliteHistory(
  database: Kysely<HistoryTables>,
  place: HistoryPlace & { readonly kind: 'sqlite' },
): Promise<History> {
  return orDestroy(database, async open => {
    await migrate(open, place.kind, historyPlaceText(place));
    return historyIn(open);
  });
}

/** Over a connection of its own: a step may take an hour. */
async function migratePostgres(
  place: HistoryPlace & { readonly kind: 'postgresql' },
  onIdleError: (error: Error) => void,
): Promise<void> {
  await using steps = new Kysely<HistoryTables>({
    dialect: postgresDialect(place.uri.reveal(), onIdleError, 'migrate'),
  });
  await migrate(steps, place.kind, historyPlaceText(place));
}

async function orDestroy(
  database: Kysely<HistoryTables>,
  open: (database: Kysely<HistoryTables>) => Promise<History>,
): Promise<History> {
  try {
    return await open(database);
  } catch (error) {
    await database.destroy();
    throw error;
  }
}

async function historyIn(database: Kysely<HistoryTables>): Promise<History> {
  const { id } = await database.selectFrom('identity').select('id').executeTakeFirstOrThrow();
  return {
    id,
    async useFor(installation) {
      await database.updateTable('identity').set({ installation }).execute();
    },
    record: rows => recordRows(database, rows),
    prune: step => prune(database, step),
    ...historyQueries(database),
  };
}

/** @param database has the tables of this version. */
export function historyQueries(database: Kysely<HistoryTables>): HistoryQueries {
  return {
    builds: filter => findBuilds(database, filter),
    build: async (tenant, uuid) => (await findBuilds(database, { tenant, uuid: [uuid], limit: 1 }))[0],
    buildsets: filter => findBuildsets(database, filter),
    async buildset(tenant, uuid) {
      const [buildset] = await findBuildsets(database, { tenant, uuid: [uuid], limit: 1 });
      if (buildset === undefined || buildset.id === null) return undefined;
      const builds = await database
        .selectFrom('build')
        .selectAll()
        .where('buildset_id', '=', buildset.id)
        .orderBy('id')
        .execute();
      return { buildset, builds };
    },
    item: (tenant, uuid) => findFinishedItem(database, tenant, uuid),
    recentItems: question => findRecentItems(database, question),
    itemsLeft: question => findItemsLeft(database, question),
    itemsOfChange: question => findItemsOfChange(database, question),
    testRuns: question => testRuns(database, question),
    failedElsewhere: question => failedElsewhere(database, question),
    decisions: question => findDecisions(database, question),
    expectedDuration: question => expectedDuration(database, question),
    recentDurations: () => recentDurations(database),
    recentRuns: question => recentRuns(database, question),
    async ping() {
      await database.selectFrom('item').select('id').limit(1).execute();
    },
    close: () => database.destroy(),
  };
}

/** Without user, password and options. */
export function historyPlaceText(place: HistoryPlace): string {
  if (place.kind === 'sqlite') return place.path;
  const { hostname, port, pathname } = new URL(place.uri.reveal());
  return `postgresql://${hostname}${port === '' ? '' : `:${port}`}${pathname}`;
}
