/** Opens SQLite files. Free of kysely, which takes a thread 0.1 s to load. */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';

/** @throws when the file cannot be opened, or others keep it for 5 s. @param file `:memory:` for a database that ends with the process. */
export function openSqliteFile(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  // First: every statement below may have to wait for another process.
  database.exec('PRAGMA busy_timeout = 5000');
  // WAL and NORMAL: a power cut may cost the last rows, never the file; the outbox still holds unconfirmed ones.
  enterWal(database);
  database.exec('PRAGMA synchronous = NORMAL');
  database.exec('PRAGMA foreign_keys = ON');
  // As in PostgreSQL.
  database.exec('PRAGMA case_sensitive_like = ON');
  return database;
}

/** Each waits for one other process that makes the file at the same time. */
const MOST_TRIES = 20;
const SQLITE_BUSY = 5;

/** SQLite does not wait where another connection is about to write into a file that is not in this mode yet, with any timeout. */
function enterWal(database: DatabaseSync): void {
  for (let tries = 1; ; tries++) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (tries === MOST_TRIES || !isBusy(error)) throw error;
      // This waits.
      database.exec('begin immediate; commit');
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}

/** Read-only, while others may write. @throws when the file does not exist. */
export function openSqliteFileToRead(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { readOnly: true });
  database.exec('PRAGMA busy_timeout = 5000');
  database.exec('PRAGMA case_sensitive_like = ON');
  return database;
}

/** @throws TypeError for a value that no column can hold. */
export function sqliteValue(value: unknown): SQLInputValue {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
    return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  throw new TypeError(`not a value SQL can hold: ${typeof value}`);
}
