/**
 * Lets the queries of a thread end with it. SQLite runs in native code, and `Worker.terminate` waits there for the next call of
 * JavaScript: without one a scan goes on for as long as it takes, while the next thread begins another.
 */
import type { DatabaseSync } from 'node:sqlite';

/** Rows for one call of JavaScript. A prime: a tenant may have every second row, and none whose id is even. */
const ROWS = 251;

/** Hides each table of the file behind a view of the same name that calls JavaScript now and then; plans stay as they are. */
export function makeInterruptible(database: DatabaseSync): void {
  database.function('is_wanted', () => 1);
  const tables = database
    .prepare(`select name from main.sqlite_schema where type = 'table' and name not like 'sqlite%'`)
    .all();
  for (const { name } of tables)
    database.exec(
      `create temp view "${name}" as select * from main."${name}" where rowid % ${ROWS} <> 0 or is_wanted()`,
    );
}
