/**
 * A history whose SQLite file is read and written in separate threads: `node:sqlite` answers synchronously, and a query
 * over a million builds must not block the event loop of the scheduler.
 *
 * Three threads: one writes (and upgrades the tables to this version), one finds rows by uuid, one makes lists. A query that takes
 * longer than {@link QUERY_LIMIT} is aborted by ending its thread (see interruptible.ts). A PostgreSQL server is queried over the
 * network and needs no thread; it ends long statements itself.
 *
 * The threads get finished SQL: what puts it together takes 0.2 s of processor time to load, for each thread anew.
 */

import { Kysely } from 'kysely';
import { ownModule } from '../lib/own-file.ts';
import { callsToWorker, type WorkerLimits } from '../lib/worker-calls.ts';
import {
  type History,
  type HistoryPlace,
  type HistoryQueries,
  historyQueries,
  openHistory,
  sqliteHistory,
} from './history.ts';
import { type ReadingTable, readingDialect } from './reading-dialect.ts';
import type { HistoryTables } from './schema.ts';
import { writingDialect } from './writing-dialect.ts';
import type { WritingTable } from './writing-table.ts';

/** Milliseconds of processor time per query: waiting on a busy machine does not count. */
const QUERY_LIMIT = 5_000;
/** Queries that may wait for one thread; further ones are refused. */
const MOST_WAITING = 200;
const HEAP_MB = 512;

/** @throws Error as {@link openHistory}. */
export async function openThreadedHistory(
  place: HistoryPlace,
  onIdleError?: (error: Error) => void,
): Promise<History> {
  if (place.kind === 'postgresql') return openHistory(place, onIdleError);
  const thread = callsToWorker<WritingTable>({
    entry: ownModule('src/history/writing-thread'),
    data: { path: place.path },
    limits: limits(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY),
  });
  const writing = new Kysely<HistoryTables>({ dialect: writingDialect(thread) });
  const write = await sqliteHistory(writing, place);
  const [lookUp, list] = [queriesIn(place.path), queriesIn(place.path)];
  return {
    id: write.id,
    useFor: write.useFor,
    record: write.record,
    prune: write.prune,
    builds: list.builds,
    build: lookUp.build,
    buildsets: list.buildsets,
    buildset: lookUp.buildset,
    item: lookUp.item,
    recentItems: list.recentItems,
    itemsLeft: list.itemsLeft,
    itemsOfChange: list.itemsOfChange,
    failedElsewhere: lookUp.failedElsewhere,
    testRuns: lookUp.testRuns,
    decisions: list.decisions,
    expectedDuration: lookUp.expectedDuration,
    recentDurations: list.recentDurations,
    recentRuns: list.recentRuns,
    ping: lookUp.ping,
    async close() {
      // The writer last and in order: it leaves a file without a journal.
      await lookUp.close();
      await list.close();
      // Its connection is free when what was begun is written.
      await writing.connection().execute(async () => {});
      await write.close();
    },
  };
}

/** One thread that reads the file. */
function queriesIn(file: string): HistoryQueries {
  const thread = callsToWorker<ReadingTable>({
    entry: ownModule('src/history/reading-thread'),
    data: { path: file },
    limits: limits(QUERY_LIMIT, MOST_WAITING),
  });
  return historyQueries(new Kysely<HistoryTables>({ dialect: readingDialect(thread) }));
}

function limits(ms: number, waiting: number): WorkerLimits {
  return { ms, of: 'processor', heapMb: HEAP_MB, waiting };
}
