/** A worker thread with one connection to a SQLite history; see threaded-history.ts. */
import { workerData } from 'node:worker_threads';
import { serveCalls } from '../lib/worker-calls.ts';
import { openHistory, openHistoryToRead } from './history.ts';
import { type HistoryTable, historyTable } from './history-table.ts';

/** `write`: creates or upgrades the tables; one thread per process does. */
export interface HistoryThreadData {
  /** Of the SQLite file. */
  readonly path: string;
  readonly access: 'write' | 'read';
}

const { path, access }: HistoryThreadData = workerData;
const history =
  access === 'write' ? await openHistory({ kind: 'sqlite', path }) : await openHistoryToRead(path);
serveCalls<HistoryTable>(historyTable(history));
