/**
 * A history whose SQLite file is read and written in separate threads: `node:sqlite` answers synchronously, and a query
 * over a million builds must not block the event loop of the scheduler.
 *
 * Three threads: one writes (and upgrades the tables to this version), one finds rows by uuid, one makes lists. A list that takes
 * longer than {@link LIST_LIMIT} is aborted by ending its thread; SQLite has no other way. A PostgreSQL server is queried over the
 * network and needs no thread; it ends long statements itself.
 */
import type { Calls } from '../lib/calls.ts';
import { CallLost, callsToWorker } from '../lib/worker-calls.ts';
import { type History, type HistoryPlace, openHistory } from './history.ts';
import type { HistoryTable } from './history-table.ts';
import type { HistoryThreadData } from './history-thread.ts';

/** Milliseconds of processor time per query: waiting on a busy machine does not count. */
const LIST_LIMIT = 5_000;
/** Queries that may wait for one thread; further ones are refused. */
const MOST_WAITING = 200;
const HEAP_MB = 512;

/** @throws Error as {@link openHistory}. */
export async function openThreadedHistory(
  place: HistoryPlace,
  onIdleError?: (error: Error) => void,
): Promise<History> {
  if (place.kind === 'postgresql') return openHistory(place, onIdleError);
  const write = threadOf({ path: place.path, access: 'write' }, Number.POSITIVE_INFINITY);
  const id = await opened(write);
  const lookUp = threadOf({ path: place.path, access: 'read' }, LIST_LIMIT);
  const list = threadOf({ path: place.path, access: 'read' }, LIST_LIMIT);
  return {
    id,
    useFor: (...given) => write.call('useFor', given),
    record: (...given) => write.call('record', given),
    prune: (...given) => write.call('prune', given),
    builds: (...given) => list.call('builds', given),
    build: (...given) => lookUp.call('build', given),
    buildsets: (...given) => list.call('buildsets', given),
    buildset: (...given) => lookUp.call('buildset', given),
    item: (...given) => lookUp.call('item', given),
    recentItems: (...given) => list.call('recentItems', given),
    itemsLeft: (...given) => list.call('itemsLeft', given),
    decisions: (...given) => list.call('decisions', given),
    expectedDuration: (...given) => lookUp.call('expectedDuration', given),
    recentDurations: (...given) => list.call('recentDurations', given),
    ping: (...given) => lookUp.call('ping', given),
    async close() {
      // The writer last and in order: it leaves a file without a journal.
      await lookUp[Symbol.asyncDispose]();
      await list[Symbol.asyncDispose]();
      await write.call('close', []);
      await write[Symbol.asyncDispose]();
    },
  };
}

function threadOf(data: HistoryThreadData, ms: number): Calls<HistoryTable> {
  return callsToWorker<HistoryTable>({
    entry: new URL('./history-thread.ts', import.meta.url),
    data,
    limits: {
      ms,
      of: 'processor',
      heapMb: HEAP_MB,
      waiting: data.access === 'write' ? Number.POSITIVE_INFINITY : MOST_WAITING,
    },
  });
}

/** @throws the error that kept the thread from opening the file. */
async function opened(thread: Calls<HistoryTable>): Promise<string> {
  try {
    return await thread.call('id', []);
  } catch (error) {
    await thread[Symbol.asyncDispose]();
    throw error instanceof CallLost && error.cause !== undefined ? error.cause : error;
  }
}
