/**
 * Webs of one installation must have one history database before them: what one writes the others show. A SQLite file is the
 * machine's own, so two webs on two machines can miss that; they find it out here, by the name each database has.
 */
import type { History } from '../../history/history.ts';
import type { IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { ensureNode } from '../../store/ensure-node.ts';
import { installationId } from '../../store/installation.ts';
import type { StorePaths } from '../../store/paths.ts';
import { type Store, set } from '../../store/port.ts';

export interface HistoryDatabaseDeps {
  readonly store: Store;
  readonly paths: StorePaths;
  readonly history: Pick<History, 'id' | 'useFor'>;
  readonly log: Log;
}

/** Says so in the log when history is being written to another database than ours. */
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
    'history is written to another database than the one of this web, which will not show new builds; give all webs the same [database] dburi (PostgreSQL for several machines)',
  );
}

/** Called by the web that writes: from now on ours is the one. */
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
      'history was written to another database before and is written to ours from now on: what ended until now is not in it; give all webs the same [database] dburi (PostgreSQL for several machines)',
    );
  }
  await store.multi([set(paths.historyDatabase, new TextEncoder().encode(history.id))]);
}

async function databaseInUse(store: Store, paths: StorePaths): Promise<string> {
  await ensureNode(store, paths.historyDatabase);
  return new TextDecoder().decode((await store.get(paths.historyDatabase))?.data);
}
