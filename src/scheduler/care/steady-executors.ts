/**
 * The labels that executors offer, once the set of executors is steady. Executors restart, lose their sessions, or start one after
 * the other when a machine boots; until the set has not changed for a while, no label counts as missing.
 *
 *     using executors = steadyExecutors(await openExecutorLabels(…), store, paths, clock, 60_000);
 *     executors.canRun(['arm'])       // 'no-executor' (wait and see) until nothing has changed for a minute, then 'no-such-label'
 */
import type { Clock } from '../../lib/clock.ts';
import { pause } from '../../lib/pause.ts';
import type { HostOffers, HostRow, HostTable } from '../../nodes/host-table.ts';
import { zoneRows } from '../../nodes/zone-rows.ts';
import type { ExecutorLabels } from '../../store/components.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';

/** Where the nodes of a job may come from. Absent `hosts`: executors alone have labels. */
export interface NodeOffers extends Pick<ExecutorLabels, 'canRun' | 'offered' | 'ansibleVersions'> {
  readonly hosts?: HostOffers;
}

/** What a turn asks about labels, in place of the bare list of executors. */
export interface SteadyExecutors extends ExecutorLabels, NodeOffers {
  /** Resolves when no executor has come or gone for as long as patience lasts, or when aborted. */
  steady(signal: AbortSignal): Promise<void>;
  /** Rows of hosts, those out of service that no executor reaches. */
  adjustRows(rows: readonly HostRow[]): readonly HostRow[];
}

/**
 * @param patience milliseconds without a change until the set is steady; 0: it always is.
 * @param hosts besides; disposed of together.
 */
export function steadyExecutors(
  executors: ExecutorLabels,
  store: Pick<Store, 'watch'>,
  paths: StorePaths,
  clock: Pick<Clock, 'monotonic' | 'now'>,
  patience: number,
  hosts?: HostTable,
): SteadyExecutors {
  let changedAt = clock.monotonic();
  const watch = store.watch(paths.components('executor'), event => {
    // A record that changes (paused, resumed) offers what it offered.
    if (event.kind !== 'changed') changedAt = clock.monotonic();
  });
  const remaining = () => changedAt + patience - clock.monotonic();

  const canRun: ExecutorLabels['canRun'] = (labels, ansible, zone) => {
    const answer = executors.canRun(labels, ansible, zone);
    return answer === 'no-such-label' && remaining() > 0 ? 'no-executor' : answer;
  };
  const adjust = zoneRows(zone => canRun([], undefined, zone) !== 'no-such-label', clock.now);

  return {
    canRun,
    offered: () => executors.offered(),
    ansibleVersions: () => executors.ansibleVersions(),
    ...(hosts === undefined ? {} : { hosts: { ...hosts, canServe: nodes => hosts.canServe(nodes, adjust) } }),
    adjustRows: adjust,
    async steady(signal) {
      while (remaining() > 0 && !signal.aborted) await pause(remaining(), signal);
    },
    [Symbol.dispose]() {
      watch[Symbol.dispose]();
      executors[Symbol.dispose]();
      hosts?.[Symbol.dispose]();
    },
  };
}
