/** Kysely's SQLite dialect for statements that another thread runs: here they are put together, there they only run. */
import { type Dialect, type Driver, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { Calls } from '../lib/calls.ts';
import { TransactionalAdapter } from './sqlite-dialect.ts';
import { threadConnection } from './thread-connection.ts';
import type { WritingTable } from './writing-table.ts';

/**
 * Kysely itself lets one transaction or statement after the other have the one connection.
 *
 * @param thread ends with the database that has this dialect. When it is lost within a transaction, the transaction fails.
 */
export function writingDialect(thread: Calls<WritingTable>): Dialect {
  return {
    createDriver: () => driverOf(thread),
    createAdapter: () => new TransactionalAdapter(),
    createIntrospector: database => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

function driverOf(thread: Calls<WritingTable>): Driver {
  /** `asked`: begins with its first statement, in the same call. */
  let transaction: 'none' | 'asked' | 'begun' = 'none';
  const execute = (sql: string, parameters: readonly unknown[] = []) => {
    const found = transaction;
    if (found === 'asked') transaction = 'begun';
    return thread.call('execute', { sql, parameters, transaction: found });
  };
  const connection = threadConnection(({ sql, parameters }) => execute(sql, parameters));
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    async beginTransaction() {
      transaction = 'asked';
    },
    async commitTransaction() {
      if (transaction === 'begun') await execute('commit');
      transaction = 'none';
    },
    async rollbackTransaction() {
      transaction = 'none';
      await thread.call('rollback', null);
    },
    releaseConnection: async () => {},
    async destroy() {
      await thread.call('close', null);
      await thread[Symbol.asyncDispose]();
    },
  };
}
