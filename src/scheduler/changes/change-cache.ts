/**
 * What hosts last reported of changes: a copy in memory of the store's change cache, read before every decision. Every scheduler
 * has one and may write: the holder of the connection what the host reported, the holder of a pipeline that a change has landed.
 *
 * A write carries the version that was read, so it cannot overwrite an unseen record; after such a commit conflict (`conflict`) the
 * commit is made again. Once `fresh` has returned, reads are as fresh as the events they are made for: a record in the same commit
 * as an event, or in an earlier one, was announced before the event could be read.
 */
import type { Change, ChangeKey, ChangeRecord } from '../../model/change.ts';
import { isNewerRecord, newerAt } from '../../model/codec/record.ts';
import { changeRecordCodec } from '../../model/codec/records.ts';
import { type ConnectionName, type ProjectKey, projectIdOf } from '../../model/project.ts';
import { parentPath } from '../../store/node-path.ts';
import type { StorePaths } from '../../store/paths.ts';
import {
  create,
  type Operation,
  remove,
  type Store,
  type StoredNode,
  StoreError,
  set,
} from '../../store/port.ts';
import { readNow } from '../../store/read-now.ts';

export interface ChangeCache extends Disposable {
  record(key: ChangeKey): ChangeRecord | undefined;
  records(project: ProjectKey): readonly ChangeRecord[];
  /** Operations that store these records; they fail when one was written since. Call `remember` after the commit. */
  operations(records: readonly ChangeRecord[]): readonly Operation[];
  /** @param records the very ones `operations` was asked for. */
  remember(records: readonly ChangeRecord[]): void;
  /** Operations that remove unused records; they fail when one was written since. */
  forget(keys: readonly ChangeKey[]): readonly Operation[];
  all(): Iterable<ChangeRecord>;
  /** Open changes that depend on it. */
  dependentsOf(key: ChangeKey): readonly ChangeKey[];
  /** Resolves when every change of the cache this session has heard of is read. Rejects when one could not be. */
  fresh(): Promise<void>;
  /** After a commit conflict: reads the record again. @returns false: the error is about something else. */
  conflict(error: unknown): Promise<boolean>;
  /** The present moment, for `changedSince`. */
  mark(): number;
  /** Whether one of these was written since the moment, by this or another process. */
  changedSince(mark: number, keys: readonly ChangeKey[]): boolean;
}

interface Entry {
  readonly record: ChangeRecord;
  readonly version: number;
  /** Counts all updates of the copy. */
  readonly touched: number;
}

const READ_AT_ONCE = 200;

/** The dependents of each change. */
function createReverseIndex() {
  const dependents = new Map<ChangeKey, Set<ChangeKey>>();
  return {
    of: (needed: ChangeKey): readonly ChangeKey[] => [...(dependents.get(needed) ?? [])],
    /** @param before what `key` needed so far. */
    set(key: ChangeKey, before: readonly ChangeKey[], after: readonly ChangeKey[]): void {
      for (const needed of before) {
        const known = dependents.get(needed);
        known?.delete(key);
        if (known?.size === 0) dependents.delete(needed);
      }
      for (const needed of after) {
        const known = dependents.get(needed) ?? new Set();
        dependents.set(needed, known.add(key));
      }
    },
  };
}

/** @param onError gets the errors of records that cannot be read; a broken one counts as absent until it is written again. */
export async function openChangeCache(
  connections: Iterable<ConnectionName>,
  store: Store,
  paths: StorePaths,
  onError: (error: unknown) => void,
): Promise<ChangeCache> {
  const entries = new Map<string, Entry>();
  const pathOfKey = new Map<ChangeKey, string>();
  const needing = createReverseIndex();
  /** Versions of nodes whose content is of no use. */
  const unreadable = new Map<string, number>();
  const bases = new Set([...connections].map(name => paths.changeCache(name)));
  /** The version each record gets, by the operation made for it. */
  const nextVersion = new WeakMap<ChangeRecord, number>();
  const reading = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  let updates = 0;

  function drop(path: string): void {
    const entry = entries.get(path);
    entries.delete(path);
    unreadable.delete(path);
    if (entry === undefined) return;
    pathOfKey.delete(entry.record.change.key);
    needing.set(entry.record.change.key, entry.record.dependsOn, []);
  }

  function put(path: string, record: ChangeRecord, version: number): void {
    updates += 1;
    unreadable.delete(path);
    needing.set(record.change.key, entries.get(path)?.record.dependsOn ?? [], record.dependsOn);
    entries.set(path, { record, version, touched: updates });
    pathOfKey.set(record.change.key, path);
  }

  function take(path: string, node: StoredNode | undefined): void {
    if (node === undefined) {
      drop(path);
      return;
    }
    try {
      put(path, changeRecordCodec.decode(node.data), node.stat.version);
    } catch (error) {
      // A decision without the record of an upgraded process would be wrong.
      if (isNewerRecord(error)) throw newerAt(path, error);
      drop(path);
      unreadable.set(path, node.stat.version);
      onError(error);
    }
  }

  async function read(path: string): Promise<void> {
    take(path, await readNow(store, () => store.get(path)));
  }

  async function readAll(base: string): Promise<void> {
    const names = (await readNow(store, () => store.children(base))) ?? [];
    const present = new Set(names.map(name => `${base}/${name}`));
    for (const path of [...entries.keys()]) if (parentPath(path) === base && !present.has(path)) drop(path);
    const wanted = [...present];
    for (let at = 0; at < wanted.length; at += READ_AT_ONCE) {
      const chunk = wanted.slice(at, at + READ_AT_ONCE);
      const nodes = await readNow(store, () => store.getMany(chunk));
      for (const [index, path] of chunk.entries()) take(path, nodes[index]);
    }
  }

  function track(work: Promise<void>): void {
    const tracked = work
      .catch(error => {
        failure = { error };
        if (store.sessionState !== 'lost') onError(error);
      })
      .finally(() => reading.delete(tracked));
    reading.add(tracked);
  }

  async function fresh(): Promise<void> {
    while (reading.size > 0) await Promise.all(reading);
    if (failure === undefined) return;
    // An update was missed: read everything again. Until that succeeds the failure stays.
    const missed = failure;
    if (store.sessionState === 'lost') throw missed.error;
    for (const base of bases) await readAll(base);
    if (failure === missed) failure = undefined;
  }

  const watches: Disposable[] = [];
  for (const base of bases) {
    watches.push(
      store.watch(base, event =>
        track(event.kind === 'resync' || event.path === base ? readAll(base) : read(event.path)),
      ),
    );
    try {
      await readAll(base);
    } catch (error) {
      // `fresh` throws it.
      if (!isNewerRecord(error)) throw error;
      failure = { error };
    }
  }

  const pathOf = (change: Change) => paths.cachedChange(projectIdOf(change.project).connection, change.key);
  const entryOf = (key: ChangeKey) => entries.get(pathOfKey.get(key) ?? '');
  return {
    record: key => entryOf(key)?.record,
    records: project =>
      [...entries.values()].flatMap(({ record }) => (record.change.project === project ? [record] : [])),
    operations: changed =>
      changed.map(record => {
        const data = changeRecordCodec.encode(record);
        const path = pathOf(record.change);
        const version = entries.get(path)?.version ?? unreadable.get(path);
        nextVersion.set(record, version === undefined ? 0 : version + 1);
        return version === undefined ? create(path, data) : set(path, data, version);
      }),
    remember(changed) {
      for (const record of changed) {
        const path = pathOf(record.change);
        const version = nextVersion.get(record);
        // The watch may have read this version, or a newer one, already.
        if (version !== undefined && version > (entries.get(path)?.version ?? -1)) put(path, record, version);
      }
    },
    forget: keys =>
      keys.flatMap(key => {
        const path = pathOfKey.get(key);
        const entry = entryOf(key);
        return path === undefined || entry === undefined ? [] : [remove(path, entry.version)];
      }),
    dependentsOf: key => needing.of(key).filter(each => entryOf(each)?.record.status === 'open'),
    all: () => [...entries.values()].map(({ record }) => record),
    fresh,
    async conflict(error) {
      if (!(error instanceof StoreError) || !bases.has(parentPath(error.path))) return false;
      await read(error.path);
      return true;
    },
    mark: () => updates,
    changedSince: (mark, keys) => keys.some(key => (entryOf(key)?.touched ?? 0) > mark),
    [Symbol.dispose]() {
      for (const watch of watches) watch[Symbol.dispose]();
    },
  };
}
