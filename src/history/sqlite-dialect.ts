/** Kysely's SQLite dialect over `node:sqlite`: no native package, the same SQL. */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { SqliteAdapter, type SqliteDatabase, SqliteDialect } from 'kysely';

/**
 * @param file path of the database; `:memory:` for one that ends with the process.
 * @throws when the file cannot be opened or is not a database.
 */
export function nodeSqliteDialect(file: string): SqliteDialect {
  return new NodeSqliteDialect({ database: async () => open(file) });
}

/**
 * Read-only, while others may write.
 *
 * @throws when the file does not exist.
 */
export function readOnlySqliteDialect(file: string): SqliteDialect {
  return new NodeSqliteDialect({ database: async () => openReadOnly(file) });
}

class NodeSqliteDialect extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }
}

/** SQLite creates tables within a transaction, so the upgrade steps are taken as a whole, by one process at a time. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

function open(file: string): SqliteDatabase {
  const database = new DatabaseSync(file);
  // First: every statement below may have to wait for another process.
  database.exec('PRAGMA busy_timeout = 5000');
  // WAL and NORMAL: a power cut may cost the last rows, never the file; the outbox still holds unconfirmed ones.
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = NORMAL');
  database.exec('PRAGMA foreign_keys = ON');
  // As in PostgreSQL.
  database.exec('PRAGMA case_sensitive_like = ON');
  return kyselyDatabase(database);
}

function openReadOnly(file: string): SqliteDatabase {
  const database = new DatabaseSync(file, { readOnly: true });
  database.exec('PRAGMA busy_timeout = 5000');
  database.exec('PRAGMA case_sensitive_like = ON');
  return kyselyDatabase(database);
}

function kyselyDatabase(database: DatabaseSync): SqliteDatabase {
  return {
    close: () => database.close(),
    prepare(sql) {
      // A write transaction from the start: one that begins by reading could not wait for another writer later, only fail.
      const statement = database.prepare(sql === 'begin' ? 'begin immediate' : sql);
      return {
        reader: statement.columns().length > 0,
        all: parameters => statement.all(...parameters.map(bindable)),
        run: parameters => statement.run(...parameters.map(bindable)),
        iterate: parameters => statement.iterate(...parameters.map(bindable)),
      };
    },
  };
}

function bindable(value: unknown): SQLInputValue {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
    return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  throw new TypeError(`not a value SQL can hold: ${typeof value}`);
}
