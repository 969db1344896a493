/**
 * Where the embedded store's nodes survive: one SQLite file.
 *
 * Only the net change of a batch is written: one row per persistent node (key: the tree's node id, so rows are appended and
 * no path index is needed) and one row per parent whose sequence moved. Ephemeral nodes are never written, so they vanish
 * with the process. The file is locked while it is open; the system drops the lock with the process.
 *
 * A batch goes into the write-ahead log at once: from then on it survives kill -9. The flush that makes it survive power loss, too,
 * takes as long as the disk does, so it runs beside the event loop, on a handle of our own on that log. SQLite itself
 * (`synchronous=NORMAL`) flushes before and after it moves the log's content into the file, which keeps the file whole at any moment.
 *
 *     node(id, path, data, version, created, modified)    sequence(id → how many children were ever created)
 *     meta(boot, marker)        boot number: high part of transaction numbers and session ids; marker: moved by empty batches
 */
import { closeSync, fdatasync as nodeFdatasync, openSync, statfsSync } from 'node:fs';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { promisify } from 'node:util';
import type { NodeTree, TreeNode } from './tree.ts';

/** Net effect of a batch. */
export interface Batch {
  /** By node id; undefined: the node is gone (or ephemeral). */
  readonly nodes: ReadonlyMap<number, TreeNode | undefined>;
  /** Parents whose sequence counter moved. */
  readonly sequences: ReadonlySet<TreeNode>;
}

/** What the store needs of a file; tests replace it to make the disk fail. */
export interface Journal {
  /** How often this journal was opened, this time included; at least 1. */
  readonly boot: number;
  /**
   * One batch at a time; it is read before the call returns.
   *
   * @returns undefined: it is durable already.
   * @throws Error, at once or later, when the batch could not be made durable. It may still appear after a crash, until the next
   *   commit succeeds.
   */
  commit(batch: Batch): Promise<void> | undefined;
  /** After the last commit. */
  close(): void;
}

/** The store's file cannot be used: locked by another process, not a store, no rights, written by a newer version. */
export class StoreFileError extends Error {
  override readonly name = 'StoreFileError';
}

/** "gate": distinguishes our files from other SQLite databases. */
const APPLICATION_ID = 0x67617465;
const FORMAT = 1;

/** Returns when what was written to the file will survive power loss. */
type Flush = (handle: number) => Promise<void>;

const fdatasync: Flush = promisify(nodeFdatasync);

/** As `statfs` names tmpfs. */
const TMPFS = 0x01021994;

/** Undefined: a file in memory survives no power loss, flushed or not, and the way to the pool and back takes longer than its writes. */
function flushFor(file: string): Flush | undefined {
  return statfsSync(file).type === TMPFS ? undefined : fdatasync;
}

const SCHEMA = `
  CREATE TABLE node (id INTEGER PRIMARY KEY, path TEXT NOT NULL, data BLOB NOT NULL, version INTEGER NOT NULL,
                     created INTEGER NOT NULL, modified INTEGER NOT NULL) STRICT;
  CREATE TABLE sequence (id INTEGER PRIMARY KEY, next INTEGER NOT NULL) STRICT;
  CREATE TABLE meta (boot INTEGER NOT NULL, marker INTEGER NOT NULL) STRICT;
  INSERT INTO meta VALUES (0, 0);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${FORMAT};`;

/**
 * Opens (or makes) the file and fills `tree` from it.
 *
 * @param flush default: `fdatasync`, and none on a file system in memory.
 * @throws StoreFileError with what to do about it.
 */
export function openJournal(file: string, tree: NodeTree, flush?: Flush): Journal {
  let db: DatabaseSync | undefined;
  try {
    closeSync(openSync(file, 'a', 0o600)); // SQLite would make it readable for all users
    db = new DatabaseSync(file);
    return journalOver(db, file, tree, flush ?? flushFor(file));
  } catch (error) {
    db?.close();
    if (error instanceof StoreFileError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const advice = /locked|busy/.test(reason)
      ? 'it is in use by another process: stop that one, or give this one a file of its own'
      : reason;
    throw new StoreFileError(`store file ${file}: ${advice}`, { cause: error });
  }
}

function journalOver(db: DatabaseSync, file: string, tree: NodeTree, flush: Flush | undefined): Journal {
  db.exec(
    'PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;',
  );
  db.exec('BEGIN IMMEDIATE');
  const format = integer(db.prepare('PRAGMA user_version').get()?.user_version);
  const application = integer(db.prepare('PRAGMA application_id').get()?.application_id);
  const fresh = integer(db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.n) === 0;
  if (fresh) db.exec(SCHEMA);
  else if (application !== APPLICATION_ID)
    throw new StoreFileError(`store file ${file}: a database, but not a Gatehouse store`);
  else if (format !== FORMAT) {
    throw new StoreFileError(
      `store file ${file}: format ${format}, this version reads ${FORMAT}; use the version that wrote it`,
    );
  }
  db.exec('UPDATE meta SET boot = boot + 1; COMMIT;');
  const boot = integer(db.prepare('SELECT boot FROM meta').get()?.boot);
  load(db, tree);
  // The boot above was flushed by SQLite: the log and its entry in the folder are there. SQLite keeps the log until the file is closed.
  db.exec('PRAGMA synchronous = NORMAL');
  const log = openSync(`${file}-wal`, 'r');
  const write = committer(db);
  let failure: Error | undefined;
  return {
    boot,
    commit(batch) {
      if (failure !== undefined) throw failure;
      write(batch);
      return flush?.(log).catch(error => {
        failure = lostFlush(file, error);
        throw failure;
      });
    },
    close() {
      closeSync(log);
      db.close();
    },
  };
}

/**
 * After a failed flush the system may have dropped what it could not write, and says so only once: nothing that is written behind it
 * can be trusted to be found again. What is in the file is known when it is opened the next time.
 */
function lostFlush(file: string, error: unknown): Error {
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreFileError(
    `store file ${file}: the disk did not keep what was written (${reason}); nothing more is written until this process is restarted`,
    { cause: error },
  );
}

function load(db: DatabaseSync, tree: NodeTree): void {
  // By id: a parent is always older than its children.
  const rows = db
    .prepare(
      'SELECT node.*, coalesce(next, 0) AS next FROM node LEFT JOIN sequence USING (id) ORDER BY node.id',
    )
    .iterate();
  for (const row of rows) {
    if (typeof row.path !== 'string' || !(row.data instanceof Uint8Array))
      throw new StoreFileError('store file: damaged row');
    tree.restore({
      id: integer(row.id),
      path: row.path,
      data: row.data,
      version: integer(row.version),
      created: integer(row.created),
      modified: integer(row.modified),
      sequence: integer(row.next),
    });
  }
  // The root has no row unless it was set, but its children count.
  const root = tree.find('/');
  const next = db.prepare('SELECT next FROM sequence WHERE id = 0').get();
  if (root !== undefined && next !== undefined) root.sequence = integer(next.next);
}

function committer(db: DatabaseSync): (batch: Batch) => void {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const put = db.prepare(
    `INSERT INTO node VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET data = excluded.data, version = excluded.version, modified = excluded.modified`,
  );
  const drop = db.prepare('DELETE FROM node WHERE id = ?');
  const count = db.prepare(
    'INSERT INTO sequence VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET next = excluded.next',
  );
  const forget = db.prepare('DELETE FROM sequence WHERE id = ?');
  const mark = db.prepare('UPDATE meta SET marker = marker + 1');
  return batch => {
    begin.run();
    try {
      for (const node of batch.sequences) count.run(node.id, node.sequence);
      for (const [id, node] of batch.nodes) {
        if (node === undefined) {
          drop.run(id);
          forget.run(id);
        } else put.run(id, node.path, node.data, node.version, node.created, node.modified);
      }
      // An empty batch is a marker that must reach the disk: see `sync` after a failed commit.
      if (batch.nodes.size === 0 && batch.sequences.size === 0) mark.run();
      commit.run();
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  };
}

function integer(value: SQLOutputValue | undefined): number {
  if (typeof value !== 'number')
    throw new StoreFileError(`store file: expected a number, found ${typeof value}`);
  return value;
}
