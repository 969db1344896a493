/** Opens SQLite files. Free of kysely, which takes a thread 0.1 s to load. */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';

/** @throws when the file cannot be opened. @param file `:memory:` for a database that ends with the process. */
export function openSqliteFile(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  // First: every statement below may have to wait for another process.
  database.exec('PRAGMA busy_timeout = 5000');
  // WAL and NORMAL: a power cut may cost the last rows, never the file; the outbox still holds unconfirmed ones.
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = NORMAL');
  database.exec('PRAGMA foreign_keys = ON');
  // As in PostgreSQL.
  database.exec('PRAGMA case_sensitive_like = ON');
  return database;
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
