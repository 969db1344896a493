/** Creates parents before anything is put below them. */
import { isConnectionLoss, settle } from './connection.ts';
import { parentPath } from './node-path.ts';
import { create, type Store, StoreError } from './port.ts';

/** Creates `path` and its missing parents, without data. Idempotent, also when several processes do it at the same time. */
export async function ensureNode(store: Store, path: string, signal?: AbortSignal): Promise<void> {
  const lineage: string[] = [];
  for (let at = path; at !== '/'; at = parentPath(at)) lineage.unshift(at);
  for (;;) {
    const nodes = await settleReads(store, lineage, signal);
    const missing = lineage.filter((_, index) => nodes[index] === undefined);
    if (missing.length === 0) return;
    try {
      await store.multi(missing.map(at => create(at)));
      return;
    } catch (error) {
      // Another process was first, or the reply was lost: look again.
      if (!isConnectionLoss(error) && !(error instanceof StoreError && error.code === 'NodeExists'))
        throw error;
      await settle(store, async () => {}, signal);
    }
  }
}

async function settleReads(store: Store, paths: readonly string[], signal?: AbortSignal) {
  try {
    return await store.getMany(paths);
  } catch (error) {
    if (!isConnectionLoss(error)) throw error;
    return await settle(store, () => store.getMany(paths), signal);
  }
}
