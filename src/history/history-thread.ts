/** A worker thread that writes a SQLite history, and creates or upgrades its tables; see threaded-history.ts. */
import { workerData } from 'node:worker_threads';
import { serveCalls } from '../lib/worker-calls.ts';
import { openHistory } from './history.ts';
import { type HistoryTable, historyTable } from './history-table.ts';

const { path }: { readonly path: string } = workerData;
serveCalls<HistoryTable>(historyTable(await openHistory({ kind: 'sqlite', path })));
