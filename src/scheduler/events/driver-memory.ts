/**
 * A driver's memory: read from the store, and written in the commit of the event that changed it.
 *
 * Lanes of a connection are processed side by side, and each writes its own keys. A write carries the version that was read: when
 * another lane wrote the same key first, the commit fails (`conflict`) and the event is processed again.
 */
import type { DriverMemory } from '../../driver/driver-memory.ts';
import type { ProcessedEvent } from '../../driver/source.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { driverMemoryCodec } from '../../model/codec/records.ts';
import type { ConnectionName } from '../../model/project.ts';
import type { StorePaths } from '../../store/paths.ts';
import { create, type Operation, remove, type Store, StoreError, set } from '../../store/port.ts';
import { createQuarantine } from '../../store/quarantine.ts';

interface DriverMemoryDeps {
  readonly connection: { readonly name: ConnectionName };
  readonly store: Store;
  readonly paths: StorePaths;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/** The memory as one `process` of one event sees it. */
export interface OpenedMemory extends DriverMemory {
  operations(memory: ProcessedEvent['memory']): Promise<readonly Operation[]>;
  /** The commit failed because another lane wrote one of these keys. */
  conflict(error: unknown, memory: ProcessedEvent['memory']): boolean;
}

/** An unreadable value is quarantined, and the driver reads the host as if for the first time. */
export function openDriverMemory({ connection, paths, store, ...rest }: DriverMemoryDeps): OpenedMemory {
  const { memoryOf } = paths.connection(connection.name);
  const quarantine = createQuarantine({ ...rest, store, path: paths.quarantine });
  /** By path; null: there was no such node. */
  const versions = new Map<string, number | null>();
  return {
    async get(key) {
      const path = memoryOf(key);
      const node = await store.get(path);
      const value = await quarantine.read(driverMemoryCodec, path, node);
      if (value === undefined && node !== undefined) versions.delete(path);
      else versions.set(path, node?.stat.version ?? null);
      return value;
    },
    async operations(memory) {
      const found = await Promise.all(
        memory.map(async ({ key, value }) => {
          const path = memoryOf(key);
          const read = versions.get(path);
          const version = read === undefined ? ((await store.get(path))?.stat.version ?? null) : read;
          if (value === undefined) return version === null ? [] : [remove(path, version)];
          const data = driverMemoryCodec.encode(value);
          return [version === null ? create(path, data) : set(path, data, version)];
        }),
      );
      return found.flat();
    },
    conflict: (error, memory) =>
      error instanceof StoreError &&
      ['BadVersion', 'NodeExists', 'NoNode'].includes(error.code) &&
      memory.some(({ key }) => memoryOf(key) === error.path),
  };
}
