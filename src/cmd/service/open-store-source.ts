/** Source of this process's store sessions: one embedded store, or the ensemble of `[zookeeper]`. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { StoreSettings } from '../../settings/settings.ts';
import { readTlsFiles } from '../../settings/tls-files.ts';
import { openEmbeddedStore } from '../../store/embedded/server.ts';
import type { StoreSource } from '../../store/port.ts';
import { openZooKeeper } from '../../store/zookeeper/source.ts';

/** The source has no session yet; the caller disposes of it. */
export type OpenedStore =
  | { readonly kind: 'source'; readonly source: StoreSource }
  /** Each error is one line for a person. */
  | { readonly kind: 'refused'; readonly errors: readonly string[] };

/** @throws StoreFileError when the embedded store's file is locked by another process or is not a store. */
export async function openStoreSource(
  settings: StoreSettings,
  deps: { readonly clock: Clock; readonly log: Log },
): Promise<OpenedStore> {
  if (settings.kind === 'embedded') {
    await mkdir(path.dirname(settings.path), { recursive: true });
    return { kind: 'source', source: embeddedSource(settings.path) };
  }
  const tls = settings.tls === undefined ? undefined : readTlsFiles(settings.tls);
  if (tls?.kind === 'invalid') return { kind: 'refused', errors: tls.errors };
  return {
    kind: 'source',
    source: openZooKeeper({
      hosts: settings.hosts,
      root: settings.root,
      sessionTimeoutMs: settings.sessionTimeout * 1000,
      auth: settings.auth,
      tls,
      clock: deps.clock,
      log: deps.log,
      random: Math.random,
    }),
  };
}

/** Name of the store in messages. */
export function storeName(settings: StoreSettings): string {
  if (settings.kind === 'embedded') return 'the embedded store';
  const hosts = settings.hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`);
  return `ZooKeeper at ${hosts.join(', ')}`;
}

function embeddedSource(file: string): StoreSource {
  const server = openEmbeddedStore({ file });
  return {
    connect: async (_name, signal) => {
      signal?.throwIfAborted();
      return server.connect();
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}
