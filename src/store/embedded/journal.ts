/**
 * Where the embedded store's nodes survive: one SQLite file.
 *
 * Only the net change of a batch is written: one row per persistent node (key: the tree's node id, so rows are appended and
 * no path index is needed) and one row per parent whose sequence moved. Ephemeral nodes are never written, so they vanish
 * with the process. Write-ahead log and `synchronous=FULL`: after `commit` returns, the batch survives kill -9 and power
 * loss. The file is locked while it is open; the system drops the lock with the process.
 *
 *     node(id, path, data, version, created, modified)    sequence(id → how many children were ever created)
 *     meta(boot, marker)        boot number: high part of transaction numbers and session ids; marker: moved by empty batches
 */
import { closeSync, openSync } from 'node:fs';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
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
  /** @throws Error when the batch could not be made durable. It may still appear after a crash, until the next commit succeeds. */
  commit(batch: Batch): void;
  close(): void;
}

/** The store's file cannot be used: locked by another process, not a store, no rights, written by a newer version. */
export class StoreFileError extends Error {
  override readonly name = 'StoreFileError';
}

/** "gate": distinguishes our files from other SQLite databases. */
const APPLICATION_ID = 0x67617465;
const FORMAT = 1;

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
 * @throws StoreFileError with what to do about it.
 */
export function openJournal(file: string, tree: NodeTree): Journal {
  let db: DatabaseSync | undefined;
  try {
    closeSync(openSync(file, 'a', 0o600)); // SQLite would make it readable for all users
    db = new DatabaseSync(file);
    return journalOver(db, file, tree);
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

function journalOver(db: DatabaseSync, file: string, tree: NodeTree): Journal {
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
  return { boot, commit: committer(db), close: () => db.close() };
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
