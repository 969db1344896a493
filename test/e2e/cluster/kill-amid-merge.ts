/** SIGKILL of a merger that has taken the merge of an item and has not answered it. */
import path from 'node:path';
import { parseUuid, type Uuid } from '../../../src/lib/ids.ts';
import { mergerRequestCodec } from '../../../src/model/codec/records.ts';
import { parseRequestName } from '../../../src/store/request-record.ts';
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
  const asked = new Set<string>();
  for (;;) {
    let request: Uuid | undefined;
    const striking = strike(cluster, terms, 'freeze', transaction => {
      request = requestOfItem(transaction, asked);
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

/**
 * The request that this transaction takes; undefined: none, or one without an item (a tenant's configuration is read).
 *
 * @param asked requests of items so far; those that this transaction makes are added.
 */
function requestOfItem({ operations }: LoggedTransaction, asked: Set<string>): Uuid | undefined {
  for (const operation of operations) {
    if (operation.kind === 'create' && operation.path.includes('/requests/merge/default/bodies/')) {
      const { uuid, item } = mergerRequestCodec.decode(operation.data);
      if (item !== undefined) asked.add(uuid);
    }
    if (operation.kind !== 'set' || !operation.path.includes('/requests/merge/default/queue/')) continue;
    const { uuid } = parseRequestName(path.posix.basename(operation.path)) ?? {};
    if (uuid !== undefined && asked.has(uuid)) return parseUuid(uuid);
  }
  return undefined;
}

function isOpen(transactions: readonly LoggedTransaction[], request: Uuid): boolean {
  return !transactions.some(({ operations }) =>
    operations.some(({ kind, path }) => kind === 'delete' && path.endsWith(`/claimed/${request}`)),
  );
}
