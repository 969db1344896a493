/** A worker thread that runs the queries of a SQLite history; see threaded-history.ts. It gets finished SQL, so that it starts quickly. */
import { workerData } from 'node:worker_threads';
import { serveCalls } from '../lib/worker-calls.ts';
import { makeInterruptible } from './interruptible.ts';
import type { ReadingTable } from './reading-dialect.ts';
import { openSqliteFileToRead, sqliteValue } from './sqlite-file.ts';

const { path }: { readonly path: string } = workerData;
const database = openSqliteFileToRead(path);
makeInterruptible(database);
serveCalls<ReadingTable>({
  query: ({ sql, parameters }) => database.prepare(sql).all(...parameters.map(sqliteValue)),
});
