/** Kysely's SQLite dialect over `node:sqlite`: no native package, the same SQL. */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type SqliteDatabase, SqliteDialect } from 'kysely';

/**
 * @param file path of the database; `:memory:` for one that ends with the process.
 * @throws when the file cannot be opened or is no database.
 */
export function nodeSqliteDialect(file: string): SqliteDialect {
  return new SqliteDialect({ database: async () => open(file) });
}

function open(file: string): SqliteDatabase {
  const database = new DatabaseSync(file);
  // WAL and NORMAL: a power cut may cost the last rows, never the file; the outbox still holds what was not answered.
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = NORMAL');
  database.exec('PRAGMA foreign_keys = ON');
  database.exec('PRAGMA busy_timeout = 5000');
  return {
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql);
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
