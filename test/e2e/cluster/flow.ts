/** Developers push a plan's changes, a few ahead of what the gate has done. */
import type { Cluster } from './cluster.ts';
import { TENANT } from './layout.ts';
import type { PlannedChange } from './load.ts';
import { DEADLINE, waitFor } from './wait-for.ts';

export interface Flow {
  /** Lets go of so many more changes. */
  allow(more: number): void;
  /** All changes were pushed and their webhooks sent. */
  readonly done: Promise<void>;
}

/** Changes that are pushed and have not left, at most. */
const AHEAD = 8;
/** Milliseconds a change may have to wait for the ones before it; a wait for the gate gives up earlier. */
const PATIENCE = 10 * DEADLINE;

/** @param allowed changes that may go at once; default: all. */
export function startFlow(cluster: Cluster, plan: readonly PlannedChange[], allowed = plan.length): Flow {
  const items = leavers(cluster);
  const before = cluster.pushed.length;
  let limit = allowed;

  async function run(): Promise<void> {
    for (const change of plan) {
      await waitFor(
        `leave to push ${change.topic}`,
        () => cluster.pushed.length - before < limit && cluster.pushed.length - items.count() < AHEAD,
        PATIENCE,
      );
      await cluster.push(change);
    }
    items[Symbol.dispose]();
  }
  const done = run();
  done.catch(() => {}); // a wait for part of it reports it
  return {
    allow(more) {
      limit += more;
    },
    done,
  };
}

/** Counts the items that have left the gate. */
function leavers({ log, storeRoot }: Cluster): Disposable & { count(): number } {
  const items = `${storeRoot}/tenants/${TENANT}/pipelines/gate/items/`;
  let count = 0;
  const see = ({ operations }: (typeof log.transactions)[number]) => {
    for (const operation of operations)
      if (operation.kind === 'delete' && operation.path.startsWith(items)) count += 1;
  };
  for (const transaction of log.transactions) see(transaction);
  const listening = log.onTransaction(see);
  return { count: () => count, [Symbol.dispose]: () => listening[Symbol.dispose]() };
}
