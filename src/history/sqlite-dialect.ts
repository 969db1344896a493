/** Kysely's SQLite dialect over `node:sqlite`: no native package, the same SQL. */
import type { DatabaseSync } from 'node:sqlite';
import { SqliteAdapter, type SqliteDatabase, SqliteDialect } from 'kysely';
import { openSqliteFile, openSqliteFileToRead, sqliteValue } from './sqlite-file.ts';

/**
 * @param file path of the database; `:memory:` for one that ends with the process.
 * @throws when the file cannot be opened or is not a database.
 */
export function nodeSqliteDialect(file: string): SqliteDialect {
  return new NodeSqliteDialect({ database: async () => kyselyDatabase(openSqliteFile(file)) });
}

/**
 * Read-only, while others may write.
 *
 * @throws when the file does not exist.
 */
export function readOnlySqliteDialect(file: string): SqliteDialect {
  return new NodeSqliteDialect({ database: async () => kyselyDatabase(openSqliteFileToRead(file)) });
}

class NodeSqliteDialect extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }
}

/** SQLite creates tables within a transaction, so the upgrade steps are taken as a whole, by one process at a time. */
export class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

function kyselyDatabase(database: DatabaseSync): SqliteDatabase {
  return {
    close: () => database.close(),
    prepare(sql) {
      // A write transaction from the start: one that begins by reading could not wait for another writer later, only fail.
      const statement = database.prepare(sql === 'begin' ? 'begin immediate' : sql);
      return {
        reader: statement.columns().length > 0,
        all: parameters => statement.all(...parameters.map(sqliteValue)),
        run: parameters => statement.run(...parameters.map(sqliteValue)),
        iterate: parameters => statement.iterate(...parameters.map(sqliteValue)),
      };
    },
  };
}
