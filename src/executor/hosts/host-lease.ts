/** The hosts of a taken build, from the executor's side of the store: what they are, and how they are given back. */
import type { Clock } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import type { BuildRequest } from '../../model/build-request.ts';
import type { PipelineEvent } from '../../model/event.ts';
import { nodesFailed, nodesReturned } from '../../model/node-events.ts';
import { MOST_NODE_WAITS } from '../../model/node-wait.ts';
import { type NodeGrant, sourcesOf, withTrouble } from '../../model/static-host.ts';
import { hostStateOperation, isStateConflict } from '../../nodes/host-state.ts';
import { readHostsNamed } from '../../nodes/host-table.ts';
import type { EventQueue } from '../../store/event-queue.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Operation, Store } from '../../store/port.ts';
import type { Claim } from '../../store/request-claim.ts';
import type { HostFailure } from './node-provider.ts';
import type { HostLease } from './reach-hosts.ts';

/** Of the executor's side of the store. */
export interface LeaseDeps {
  readonly store: Store;
  readonly paths: StorePaths;
  readonly clock: Pick<Clock, 'now'>;
}

/** @param events of its pipeline. */
export function hostLease(
  claim: Claim<BuildRequest>,
  grant: NodeGrant,
  events: Pick<EventQueue<PipelineEvent>, 'put'>,
  deps: LeaseDeps,
): HostLease {
  async function fail(reason: string, failures: readonly HostFailure[]): Promise<void> {
    const { value } = claim.request;
    const ended = events.put(nodesFailed(value, deps.clock.now(), reason));
    const write = (troubles: readonly Operation[]) => claim.complete([...ended, ...troubles]);
    await withTroubles(deps, async () => failures, value.uuid, write);
  }

  return {
    grant,
    refuse: fail,
    async definitions() {
      const rows = await readHostsNamed(deps.store, deps.paths, sourcesOf(grant));
      return new Map(rows.map(({ host }) => [host.name, host]));
    },
    async handBack(failures) {
      const { value, wanted } = claim.request;
      const { uuid } = value;
      const reason =
        failures.length === 0
          ? 'its executor stopped before it began'
          : failures.map(({ host, reason: why }) => `${host}: ${why}`).join('; ');
      const at = deps.clock.now();
      if (wanted === undefined || (wanted.returns ?? 0) + 1 >= MOST_NODE_WAITS) {
        await fail(`its hosts failed ${MOST_NODE_WAITS} times before it began; ${reason}`, failures);
        return;
      }
      const returned = events.put(nodesReturned(uuid, wanted, at, reason));
      await withTroubles(
        deps,
        async () => failures,
        uuid,
        troubles => claim.handBack([...returned, ...troubles]),
      );
    },
  };
}

/** Other writers may be first. */
const MOST_TRIES = 20;

/**
 * Writes with the operations that quarantine these hosts, again where another writer changed one of them meanwhile.
 *
 * @param wanted the hosts that failed, or operations of its own; called for each try.
 */
export async function withTroubles<T>(
  deps: LeaseDeps,
  wanted: () => Promise<readonly HostFailure[] | readonly Operation[]>,
  build: Uuid,
  write: (operations: readonly Operation[]) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const operations: Operation[] = [];
    const quarantined = new Set<string>();
    for (const each of await wanted()) {
      if (!('host' in each)) operations.push(each);
      else if (each.serves === undefined && !quarantined.has(each.host)) {
        // Several nodes of a build may be of one source.
        quarantined.add(each.host);
        operations.push(...(await quarantine(deps, each, build)));
      }
    }
    try {
      return await write(operations);
    } catch (error) {
      if (operations.length === 0 || tries >= MOST_TRIES || !isStateConflict(error)) throw error;
    }
  }
}

function quarantine(
  deps: LeaseDeps,
  { host, reason, leftover }: HostFailure,
  build: Uuid,
): Promise<readonly Operation[]> {
  return hostStateOperation(deps, host, state =>
    withTrouble(state, reason, deps.clock.now(), leftover ? build : undefined),
  );
}
