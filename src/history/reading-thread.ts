/** A worker thread that runs the queries of a SQLite history; see threaded-history.ts. It gets finished SQL, so that it starts quickly. */
import { serveCalls } from '../lib/worker-calls.ts';
import { makeInterruptible } from './interruptible.ts';
import type { ReadingTable } from './reading-dialect.ts';
import { openSqliteFileToRead, sqliteValue } from './sqlite-file.ts';

serveCalls<ReadingTable, { readonly path: string }>(({ path }) => {
  const database = openSqliteFileToRead(path);
  makeInterruptible(database);
  return {
    query: ({ sql, parameters }) => database.prepare(sql).all(...parameters.map(sqliteValue)),
    [Symbol.dispose]: () => database.close(),
  };
});
