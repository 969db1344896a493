/** Kysely's SQLite dialect for queries that another thread runs: here they are put together, there they only run. */
import { type Dialect, type Driver, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { Calls } from '../lib/calls.ts';
import { type ThreadStatement, threadConnection } from './thread-connection.ts';

/** One query with the values for its placeholders; the answer is its rows. */
export interface ReadingTable {
  query(statement: ThreadStatement): readonly unknown[];
}

/** Reads only. @param thread ends with the database that has this dialect. */
export function readingDialect(thread: Calls<ReadingTable>): Dialect {
  return {
    createDriver: () => driverOf(thread),
    createAdapter: () => new ConcurrentAdapter(),
    createIntrospector: database => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/** The thread takes one query after the other, in the order in which they came. */
class ConcurrentAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

function driverOf(thread: Calls<ReadingTable>): Driver {
  const connection = threadConnection(async statement => ({
    rows: await thread.call('query', statement),
  }));
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    beginTransaction: readsOnly,
    commitTransaction: readsOnly,
    rollbackTransaction: readsOnly,
    releaseConnection: async () => {},
    destroy: () => Promise.resolve(thread[Symbol.asyncDispose]()),
  };
}

async function readsOnly(): Promise<never> {
  throw new Error('this connection to the history only reads');
}
