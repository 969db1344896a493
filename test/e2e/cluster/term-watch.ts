/** Who is in charge of what, at this very moment, by the server's own log. */
import { componentCodec } from '../../../src/model/codec/records.ts';
import type { Cluster } from './cluster.ts';
import { TENANT } from './layout.ts';
import type { ClusterProcess } from './process.ts';
import { fencesRaised, fencesUsed } from './store-replay.ts';
import type { LoggedTransaction } from './transaction-log.ts';

export interface TermWatch extends Disposable {
  /** The process whose session raised the fence's epoch last; undefined: none, or it does not run. */
  holder(fence: string): ClusterProcess | undefined;
  /** Sessions that ever raised it, oldest first. */
  holdersOf(fence: string): readonly string[];
  /** Which process a session belongs to: the one that registered a component in it. Undefined: not known. */
  ownerOf(session: string): number | undefined;
  /** Sessions a process registered components in, oldest first. */
  sessionsOf(pid: number): readonly string[];
}

/** Path of the gate's fence in the store. */
export function gateFence(cluster: Pick<Cluster, 'storeRoot'>): string {
  return `${cluster.storeRoot}/tenants/${TENANT}/pipelines/gate`;
}

export function watchTerms(cluster: Cluster): TermWatch {
  const holders = new Map<string, string[]>();
  const owners = new Map<string, number>();

  function see(transaction: LoggedTransaction): void {
    for (const fence of fencesRaised(transaction))
      holders.set(fence, [...(holders.get(fence) ?? []), transaction.session]);
    for (const operation of transaction.operations)
      if (operation.kind === 'create' && operation.path.startsWith(`${cluster.storeRoot}/components/`)) {
        if (operation.ephemeral) owners.set(transaction.session, componentCodec.decode(operation.data).pid);
      }
  }
  for (const transaction of cluster.log.transactions) see(transaction);
  const listening = cluster.log.onTransaction(see);
  return {
    holder(fence) {
      const pid = owners.get(holders.get(fence)?.at(-1) ?? '');
      return cluster.processes.find(each => each.pid !== undefined && each.pid === pid);
    },
    holdersOf: fence => holders.get(fence) ?? [],
    ownerOf: session => owners.get(session),
    sessionsOf: pid => [...owners].filter(([, owner]) => owner === pid).map(([session]) => session),
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  };
}

export interface Takeover {
  readonly by: string;
  /** Milliseconds from `since` until the fence's epoch was raised by another session. */
  readonly raisedMs: number;
  /** Milliseconds until the first commit under it. */
  readonly committedMs: number;
}

/** What the log says of the first term of `fence` by another session than `former` after `since` (epoch milliseconds). */
export function takeoverIn(
  transactions: readonly LoggedTransaction[],
  fence: string,
  former: ReadonlySet<string>,
  since: number,
): Takeover | undefined {
  const later = transactions.filter(each => each.at >= since && !former.has(each.session));
  const raised = later.find(each => fencesRaised(each).includes(fence));
  const committed = later.find(each => fencesUsed(each).includes(fence));
  if (raised === undefined || committed === undefined) return undefined;
  return { by: raised.session, raisedMs: raised.at - since, committedMs: committed.at - since };
}
