/**
 * What the writing thread of a SQLite history does: one finished statement per call. Free of kysely, which takes a thread 0.2 s of
 * processor time to load.
 */
import type { DatabaseSync } from 'node:sqlite';
import { openSqliteFile, sqliteValue } from './sqlite-file.ts';
import type { ThreadStatement } from './thread-connection.ts';

/** One statement with the values for its placeholders. */
interface Statement extends ThreadStatement {
  /**
   * `begun`: must be open. That of a thread that was lost is gone, and what follows in it must not be written alone. `none`: must not be.
   * `asked`: begins with this statement.
   */
  readonly transaction: 'none' | 'asked' | 'begun';
}

interface StatementResult {
  readonly rows: readonly unknown[];
  /** Rows that were inserted, changed or deleted; 0 for a statement that answers rows. */
  readonly changes: number;
}

/** Each call rejects with the error of SQLite. */
export interface WritingTable {
  execute(statement: Statement): StatementResult;
  /** Harmless where no transaction is open. */
  rollback(argument: null): void;
  /** Leaves a file without a journal. */
  close(argument: null): void;
}

/** @param file is opened, and made where it is missing, with the first statement. */
export function writingTable(file: string): WritingTable {
  let database: DatabaseSync | undefined;
  return {
    execute({ sql, parameters, transaction }) {
      database ??= openSqliteFile(file);
      const isOpen = transaction === 'begun';
      if (database.isTransaction !== isOpen)
        throw new Error(isOpen ? 'the transaction was lost' : 'another transaction is open');
      // A write transaction from the start: one that begins by reading could not wait for another writer later, only fail.
      if (transaction === 'asked') database.exec('begin immediate');
      const statement = database.prepare(sql);
      const values = parameters.map(sqliteValue);
      if (statement.columns().length > 0) return { rows: statement.all(...values), changes: 0 };
      return { rows: [], changes: Number(statement.run(...values).changes) };
    },
    rollback() {
      if (database?.isTransaction === true) database.exec('rollback');
    },
    close() {
      database?.close();
      database = undefined;
    },
  };
}
