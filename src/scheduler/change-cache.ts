/**
 * What hosts last said of changes: a copy in memory of the store's change cache, read before every decision. Written only
 * with the commit of the event that told of it; other processes' writes arrive by watch.
 */
import type { Change, ChangeKey, ChangeRecord } from '../model/change.ts';
import { changeRecordCodec } from '../model/codec/records.ts';
import { type ConnectionName, type ProjectKey, projectIdOf } from '../model/project.ts';
import type { StorePaths } from '../store/paths.ts';
import { create, type Operation, remove, type Store, set } from '../store/port.ts';

export interface ChangeCache extends Disposable {
  record(key: ChangeKey): ChangeRecord | undefined;
  records(project: ProjectKey): readonly ChangeRecord[];
  /** Operations that store these records; call `remember` with them after the commit. */
  operations(records: readonly ChangeRecord[]): readonly Operation[];
  remember(records: readonly ChangeRecord[]): void;
  /** Operations that drop records nobody needs any more. */
  forget(keys: readonly ChangeKey[]): readonly Operation[];
  all(): Iterable<ChangeRecord>;
}

export async function openChangeCache(
  connections: Iterable<ConnectionName>,
  store: Store,
  paths: StorePaths,
  onError: (error: unknown) => void,
): Promise<ChangeCache> {
  const records = new Map<ChangeKey, ChangeRecord>();
  const byPath = new Map<string, ChangeKey>();

  async function read(path: string): Promise<void> {
    const node = await store.get(path);
    if (node === undefined) {
      const key = byPath.get(path);
      if (key !== undefined) records.delete(key);
      byPath.delete(path);
      return;
    }
    if (node.data.length === 0) return;
    const record = changeRecordCodec.decode(node.data);
    byPath.set(path, record.change.key);
    records.set(record.change.key, record);
  }

  async function readAll(base: string): Promise<void> {
    const names = (await store.children(base)) ?? [];
    await Promise.all(names.map(name => read(`${base}/${name}`)));
  }

  const watches: Disposable[] = [];
  for (const connection of connections) {
    const base = paths.changeCache(connection);
    watches.push(
      store.watch(base, event => {
        const done = event.kind === 'resync' || event.path === base ? readAll(base) : read(event.path);
        done.catch(onError);
      }),
    );
    await readAll(base);
  }

  const pathOf = (change: Change) => paths.cachedChange(projectIdOf(change.project).connection, change.key);
  return {
    record: key => records.get(key),
    records: project => [...records.values()].filter(record => record.change.project === project),
    operations: changed =>
      changed.map(record => {
        const data = changeRecordCodec.encode(record);
        return byPath.has(pathOf(record.change))
          ? set(pathOf(record.change), data)
          : create(pathOf(record.change), data);
      }),
    remember(changed) {
      for (const record of changed) {
        byPath.set(pathOf(record.change), record.change.key);
        records.set(record.change.key, record);
      }
    },
    forget: keys =>
      keys.flatMap(key => {
        const record = records.get(key);
        return record === undefined ? [] : [remove(pathOf(record.change))];
      }),
    all: () => records.values(),
    [Symbol.dispose]() {
      for (const watch of watches) watch[Symbol.dispose]();
    },
  };
}
