/** SIGKILL of a merger that has taken the merge of an item and has not answered it. */
import type { Uuid } from '../../../src/lib/ids.ts';
import { mergerRequestCodec } from '../../../src/model/codec/records.ts';
import { decodeRequestRecord } from '../../../src/store/request-record.ts';
import type { Cluster } from './cluster.ts';
import { claimers, type Struck, strike } from './strike.ts';
import type { TermWatch } from './term-watch.ts';
import type { LoggedTransaction } from './transaction-log.ts';

export interface KilledAmidMerge {
  readonly struck: Struck;
  /** The merger's request. */
  readonly request: Uuid;
}

/**
 * Frozen first: while it sleeps the server's log shows whether it has answered. Then it goes on, and the next one is struck.
 *
 * @param next pushes one more change, when nothing else is under way that could withdraw its merge.
 */
export async function killAmidMerge(
  cluster: Cluster,
  terms: TermWatch,
  next: () => Promise<void>,
): Promise<KilledAmidMerge> {
  const taking = claimers(cluster, terms, 'merge');
  for (;;) {
    let request: Uuid | undefined;
    const striking = strike(cluster, terms, 'freeze', transaction => {
      request = requestOfItem(transaction);
      return request === undefined ? undefined : taking(transaction);
    });
    await next();
    const struck = await striking;
    if (request !== undefined && isOpen(await cluster.log.read(), request)) {
      await struck.victim.kill();
      return { struck: { ...struck, how: 'kill' }, request };
    }
    struck.victim.thaw();
  }
}

/** The request that this transaction takes; undefined: none, or one without an item (a tenant's configuration is read). */
function requestOfItem({ operations }: LoggedTransaction): Uuid | undefined {
  for (const operation of operations) {
    if (operation.kind !== 'set' || !operation.path.includes('/requests/merge/default/queue/')) continue;
    const { uuid, item } = mergerRequestCodec.decode(decodeRequestRecord(operation.data).bytes);
    if (item !== undefined) return uuid;
  }
  return undefined;
}

function isOpen(transactions: readonly LoggedTransaction[], request: Uuid): boolean {
  return !transactions.some(({ operations }) =>
    operations.some(({ kind, path }) => kind === 'delete' && path.endsWith(`/claimed/${request}`)),
  );
}
