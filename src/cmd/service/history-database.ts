/**
 * All webs of an installation must share one history database: one writes it, the others show it. Webs on several machines with a
 * local SQLite file each violate that; this module detects it by the id that each database has.
 */
import type { History } from '../../history/history.ts';
import type { IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { ensureNode } from '../../store/ensure-node.ts';
import { installationId } from '../../store/installation.ts';
import type { StorePaths } from '../../store/paths.ts';
import { type Store, set } from '../../store/port.ts';

/** The store names the database in use, `history` is that of this web. */
export interface HistoryDatabaseDeps {
  readonly store: Store;
  readonly paths: StorePaths;
  readonly history: Pick<History, 'id' | 'useFor'>;
  readonly log: Log;
}

/** Logs an error when history is written to another database than this web's. */
export async function compareHistoryDatabase({
  store,
  paths,
  history,
  log,
}: HistoryDatabaseDeps): Promise<void> {
  const written = await databaseInUse(store, paths);
  if (written === '' || written === history.id) return;
  log.error(
    { ours: history.id, written },
    'history is written to another database, so this web does not show new builds; give all webs the same [database] dburi (PostgreSQL for several machines)',
  );
}

/** Called by the web that writes history: registers its database as the one in use. */
export async function useHistoryDatabase({
  store,
  paths,
  history,
  log,
  ids,
}: HistoryDatabaseDeps & { readonly ids: IdMaker }): Promise<void> {
  await history.useFor(await installationId(store, paths, ids));
  const before = await databaseInUse(store, paths);
  if (before === history.id) return;
  if (before !== '') {
    log.error(
      { ours: history.id, before },
      'history was written to another database so far: this one lacks everything that ended before; give all webs the same [database] dburi (PostgreSQL for several machines)',
    );
  }
  await store.multi([set(paths.historyDatabase, new TextEncoder().encode(history.id))]);
}

async function databaseInUse(store: Store, paths: StorePaths): Promise<string> {
  await ensureNode(store, paths.historyDatabase);
  return new TextDecoder().decode((await store.get(paths.historyDatabase))?.data);
}
