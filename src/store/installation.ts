import type { IdMaker, Uuid } from '../lib/ids.ts';
import { parseUuid } from '../lib/ids.ts';
import { isConnectionLoss, settle } from './connection.ts';
import { ensureNode } from './ensure-node.ts';
import type { StorePaths } from './paths.ts';
import { create, type Store, StoreError } from './port.ts';

/**
 * The id of the installation: the same in all its processes. The first process to ask creates it; it lives as long as the tree.
 *
 * @throws StoreError `SessionExpired` when the session ends meanwhile.
 */
export async function installationId(store: Store, paths: StorePaths, ids: IdMaker): Promise<Uuid> {
  await ensureNode(store, paths.root);
  for (;;) {
    const node = await settle(store, () => store.get(paths.installation));
    if (node !== undefined) return parseUuid(new TextDecoder().decode(node.data));
    try {
      await store.multi([create(paths.installation, new TextEncoder().encode(ids.uuid()))]);
    } catch (error) {
      // Another process was first, or the answer was lost: the stored id counts.
      if (!isConnectionLoss(error) && !(error instanceof StoreError && error.code === 'NodeExists'))
        throw error;
    }
  }
}
