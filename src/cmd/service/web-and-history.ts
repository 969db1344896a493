/** The web of this process, the history it shows and writes, and the delivery from the store to it. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { History } from '../../history/history.ts';
import { openThreadedHistory } from '../../history/threaded-history.ts';
import type { AuthRealm } from '../../settings/auth-keys.ts';
import type { ComponentHealth } from '../../web/deps.ts';
import { startHistoryDelivery } from './deliveries.ts';
import type { ProcessCore } from './manage-component.ts';
import { outboxMeasurements } from './service-metrics.ts';
import { type OpenWeb, openWeb } from './start-web.ts';

interface WebStart {
  readonly realms: readonly AuthRealm[];
  readonly health: () => readonly ComponentHealth[];
  /** Closes what was opened. */
  readonly stack: AsyncDisposableStack;
}

/** Both are open. */
export interface WebAndHistory {
  readonly web: OpenWeb;
  readonly history: History;
}

/** @throws Error when the database or the port cannot be opened. */
export async function openWebAndHistory(
  core: ProcessCore,
  { realms, health, stack }: WebStart,
): Promise<WebAndHistory> {
  const history = await openDatabase(core, stack);
  const historyDelivery = startHistoryDelivery(core, history);
  stack.defer(() => historyDelivery.close());
  core.metrics.source(() => outboxMeasurements('history', historyDelivery.outbox()));
  return { web: stack.use(await openWeb(core, { history, health, realms })), history };
}

/** @param stack closes it. */
async function openDatabase(
  { settings: { database }, log }: ProcessCore,
  stack: AsyncDisposableStack,
): Promise<History> {
  if (database.kind === 'sqlite') await mkdir(path.dirname(database.path), { recursive: true });
  const history = await openThreadedHistory(database, error =>
    log.warn({ err: error }, 'a connection to the history database was lost'),
  );
  stack.defer(() => history.close());
  return history;
}
