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
import { createTopicIndex } from './topic-index.ts';

/** One for each scheduler. Disposing of it stops the watches. */
export interface ChangeCache extends Disposable {
  /** Undefined: the change is unknown, or its record cannot be read. */
  record(key: ChangeKey): ChangeRecord | undefined;
  records(project: ProjectKey): readonly ChangeRecord[];
  /** Operations that store these records; they fail when one was written since. Call `remember` after the commit. */
  operations(records: readonly ChangeRecord[]): readonly Operation[];
  /** @param records the very ones `operations` was asked for. */
  remember(records: readonly ChangeRecord[]): void;
  /** Operations that remove unused records; they fail when one was written since. */
  forget(keys: readonly ChangeKey[]): readonly Operation[];
  /** Of every connection, in no order. */
  all(): Iterable<ChangeRecord>;
  /** Open changes that depend on it. */
  dependentsOf(key: ChangeKey): readonly ChangeKey[];
  /** Open changes of the topic of a record, itself among them, in a fixed order; null: more than `MOST_OF_TOPIC`. */
  sameTopic(record: ChangeRecord): readonly ChangeKey[] | null;
  /** Resolves when every change of the cache this session has heard of is read. Rejects when one could not be. */
  fresh(): Promise<void>;
  /** After a commit conflict: reads the record again. @returns false: the error is about something else. */
  conflict(error: unknown): Promise<boolean>;
  /** The present moment, for `changedSince`. It is another one whenever a record has changed. */
  mark(): number;
  /** Whether one of these was written since the moment, by this or another process. */
  changedSince(mark: number, keys: readonly ChangeKey[]): boolean;
}

interface Entry {
  readonly record: ChangeRecord;
  readonly version: number;
  /** The number of the update; all are counted. */
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
  const cache = new StoredChanges(connections, store, paths, onError);
  await cache.open();
  return cache;
}

class StoredChanges implements ChangeCache {
  readonly #store: Store;
  readonly #paths: StorePaths;
  readonly #onError: (error: unknown) => void;
  readonly #bases: ReadonlySet<string>;
  readonly #entries = new Map<string, Entry>();
  readonly #pathOfKey = new Map<ChangeKey, string>();
  readonly #dependents = createReverseIndex();
  readonly #topics = createTopicIndex();
  /** Versions of nodes with unreadable content. */
  readonly #unreadable = new Map<string, number>();
  /** The version each record gets, by the operation made for it. */
  readonly #nextVersion = new WeakMap<ChangeRecord, number>();
  readonly #reading = new Set<Promise<void>>();
  readonly #watches: Disposable[] = [];
  #failure: { readonly error: unknown } | undefined;
  #updates = 0;

  constructor(
    connections: Iterable<ConnectionName>,
    store: Store,
    paths: StorePaths,
    onError: (error: unknown) => void,
  ) {
    this.#store = store;
    this.#paths = paths;
    this.#onError = onError;
    this.#bases = new Set([...connections].map(name => paths.changeCache(name)));
  }

  async open(): Promise<void> {
    for (const base of this.#bases) {
      this.#watches.push(
        this.#store.watch(base, event => {
          const isBase = event.kind === 'resync' || event.path === base;
          this.#track(isBase ? this.#readAll(base) : this.#read(event.path));
        }),
      );
      try {
        await this.#readAll(base);
      } catch (error) {
        // `fresh` throws it.
        if (!isNewerRecord(error)) throw error;
        this.#failure = { error };
      }
    }
  }

  record(key: ChangeKey): ChangeRecord | undefined {
    return this.#entryOf(key)?.record;
  }

  records(project: ProjectKey): readonly ChangeRecord[] {
    return this.all().filter(({ change }) => change.project === project);
  }

  all(): readonly ChangeRecord[] {
    return [...this.#entries.values()].map(({ record }) => record);
  }

  dependentsOf(key: ChangeKey): readonly ChangeKey[] {
    return this.#dependents.of(key).filter(each => this.record(each)?.status === 'open');
  }

  sameTopic(record: ChangeRecord): readonly ChangeKey[] | null {
    return this.#topics.of(record);
  }

  operations(changed: readonly ChangeRecord[]): readonly Operation[] {
    return changed.map(record => {
      const data = changeRecordCodec.encode(record);
      const path = this.#pathOf(record.change);
      const version = this.#entries.get(path)?.version ?? this.#unreadable.get(path);
      this.#nextVersion.set(record, version === undefined ? 0 : version + 1);
      return version === undefined ? create(path, data) : set(path, data, version);
    });
  }

  remember(changed: readonly ChangeRecord[]): void {
    for (const record of changed) {
      const path = this.#pathOf(record.change);
      const version = this.#nextVersion.get(record);
      // The watch may have read this version, or a newer one, already.
      if (version !== undefined && version > (this.#entries.get(path)?.version ?? -1))
        this.#put(path, record, version);
    }
  }

  forget(keys: readonly ChangeKey[]): readonly Operation[] {
    return keys.flatMap(key => {
      const path = this.#pathOfKey.get(key);
      const entry = this.#entryOf(key);
      return path === undefined || entry === undefined ? [] : [remove(path, entry.version)];
    });
  }

  async fresh(): Promise<void> {
    while (this.#reading.size > 0) await Promise.all(this.#reading);
    if (this.#failure === undefined) return;
    // An update was missed: read everything again. Until that succeeds the failure stays.
    const missed = this.#failure;
    if (this.#store.sessionState === 'lost') throw missed.error;
    for (const base of this.#bases) await this.#readAll(base);
    if (this.#failure === missed) this.#failure = undefined;
  }

  async conflict(error: unknown): Promise<boolean> {
    if (!(error instanceof StoreError) || !this.#bases.has(parentPath(error.path))) return false;
    await this.#read(error.path);
    return true;
  }

  mark(): number {
    return this.#updates;
  }

  changedSince(mark: number, keys: readonly ChangeKey[]): boolean {
    return keys.some(key => (this.#entryOf(key)?.touched ?? 0) > mark);
  }

  [Symbol.dispose](): void {
    for (const watch of this.#watches) watch[Symbol.dispose]();
  }

  #pathOf(change: Change): string {
    return this.#paths.cachedChange(projectIdOf(change.project).connection, change.key);
  }

  #entryOf(key: ChangeKey): Entry | undefined {
    return this.#entries.get(this.#pathOfKey.get(key) ?? '');
  }

  #put(path: string, record: ChangeRecord, version: number): void {
    this.#updates += 1;
    this.#unreadable.delete(path);
    const before = this.#entries.get(path)?.record;
    this.#dependents.set(record.change.key, before?.dependsOn ?? [], record.dependsOn);
    this.#topics.set(before, record);
    this.#entries.set(path, { record, version, touched: this.#updates });
    this.#pathOfKey.set(record.change.key, path);
  }

  #drop(path: string): void {
    const entry = this.#entries.get(path);
    this.#updates += 1;
    this.#entries.delete(path);
    this.#unreadable.delete(path);
    if (entry === undefined) return;
    this.#pathOfKey.delete(entry.record.change.key);
    this.#dependents.set(entry.record.change.key, entry.record.dependsOn, []);
    this.#topics.set(entry.record, undefined);
  }

  #take(path: string, node: StoredNode | undefined): void {
    if (node === undefined) {
      this.#drop(path);
      return;
    }
    try {
      this.#put(path, changeRecordCodec.decode(node.data), node.stat.version);
    } catch (error) {
      // A decision without the record of an upgraded process would be wrong.
      if (isNewerRecord(error)) throw newerAt(path, error);
      this.#drop(path);
      this.#unreadable.set(path, node.stat.version);
      this.#onError(error);
    }
  }

  async #read(path: string): Promise<void> {
    this.#take(path, await readNow(this.#store, () => this.#store.get(path)));
  }

  async #readAll(base: string): Promise<void> {
    const names = (await readNow(this.#store, () => this.#store.children(base))) ?? [];
    const present = new Set(names.map(name => `${base}/${name}`));
    for (const path of [...this.#entries.keys()])
      if (parentPath(path) === base && !present.has(path)) this.#drop(path);
    const wanted = [...present];
    for (let at = 0; at < wanted.length; at += READ_AT_ONCE) {
      const chunk = wanted.slice(at, at + READ_AT_ONCE);
      const nodes = await readNow(this.#store, () => this.#store.getMany(chunk));
      for (const [index, path] of chunk.entries()) this.#take(path, nodes[index]);
    }
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch(error => {
        this.#failure = { error };
        if (this.#store.sessionState !== 'lost') this.#onError(error);
      })
      .finally(() => this.#reading.delete(tracked));
    this.#reading.add(tracked);
  }
}
