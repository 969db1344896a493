/**
 * Hosts and providers out of service, looked at again when their time has come: what builds left there is removed, and the host is in service again; or
 * it stays out for twice as long. Every executor does it; the one that first writes the next time into the state is the one that looks.
 */
import type { Clock } from '../../lib/clock.ts';
import { toMilliseconds } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createDirty } from '../../lib/signal.ts';
import { type ExecutorZone, reachesZone } from '../../model/executor-zone.ts';
import { type HostOutage, withoutTrouble, withTrouble } from '../../model/static-host.ts';
import { changeHostState, hostStateOperation, isStateConflict } from '../../nodes/host-state.ts';
import { type HostRow, openHostTable } from '../../nodes/host-table.ts';
import type { StorePaths } from '../../store/paths.ts';
import { type Store, StoreError } from '../../store/port.ts';
import { examineSource, type NodeProviders } from './reach-hosts.ts';

interface LookAgainDeps {
  readonly store: Store;
  readonly paths: StorePaths;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Of this executor: it looks at hosts that it reaches. */
  readonly zone: ExecutorZone;
  readonly providers: NodeProviders;
}

/** Milliseconds after a failure of the store, and the longest sleep: the clock may be set. */
const LONGEST_SLEEP = 60_000;

/** Until aborted, or until the session is over. */
export async function lookAgain(deps: LookAgainDeps, signal: AbortSignal): Promise<void> {
  const dirty = createDirty(true);
  signal.addEventListener('abort', dirty.set, { once: true });
  const onError = (error: unknown) =>
    deps.log.warn({ error: String(error) }, 'the list of hosts could not be read');
  using hosts = await openHostTable(deps.store, deps.paths, onError, dirty.set);
  while (!signal.aborted) {
    try {
      await Promise.all(due(hosts.rows(), deps).map(row => look(deps, row, signal)));
    } catch (error) {
      if (!(error instanceof StoreError) || ['SessionExpired', 'Closed'].includes(error.code)) return;
      deps.log.warn({ error: error.message }, 'the state of a host could not be written');
    }
    const timer = setTimeout(dirty.set, untilNext(hosts.rows(), deps));
    await dirty.wait(new AbortController().signal);
    clearTimeout(timer);
  }
}

type TroubledRow = HostRow & { readonly state: { readonly trouble: HostOutage } };

function isTroubled(row: HostRow): row is TroubledRow {
  return row.state?.trouble !== undefined;
}

function reached(rows: readonly HostRow[], zone: ExecutorZone): readonly TroubledRow[] {
  return rows.filter(isTroubled).filter(({ host }) => reachesZone(zone, host.zone));
}

function due(rows: readonly HostRow[], { clock, zone }: LookAgainDeps): readonly TroubledRow[] {
  const now = toMilliseconds(clock.now());
  return reached(rows, zone).filter(({ state }) => toMilliseconds(state.trouble.retryAt) <= now);
}

function untilNext(rows: readonly HostRow[], { clock, zone }: LookAgainDeps): number {
  const now = toMilliseconds(clock.now());
  const times = reached(rows, zone).map(({ state }) => toMilliseconds(state.trouble.retryAt) - now);
  return Math.max(100, Math.min(LONGEST_SLEEP, ...times));
}

async function look(deps: LookAgainDeps, { host, state }: TroubledRow, signal: AbortSignal): Promise<void> {
  const { reason, leftovers = [] } = state.trouble;
  const operations = await hostStateOperation(deps, host.name, current =>
    current?.trouble?.retryAt === state.trouble.retryAt
      ? withTrouble(current, reason, deps.clock.now())
      : current,
  );
  if (operations.length === 0) return;
  try {
    await deps.store.multi(operations);
  } catch (error) {
    // Another executor looks at it.
    if (isStateConflict(error)) return;
    throw error;
  }
  const problem = await examineSource(deps.providers, host, leftovers, signal);
  if (signal.aborted) return;
  await changeHostState(deps, host.name, current => {
    if (current?.trouble === undefined) return current;
    if (problem !== undefined) return { ...current, trouble: { ...current.trouble, reason: problem } };
    const left = (current.trouble.leftovers ?? []).filter(build => !leftovers.includes(build));
    // Of a build that ended meanwhile.
    if (left.length > 0)
      return { ...current, trouble: { ...current.trouble, leftovers: left, retryAt: deps.clock.now() } };
    return withoutTrouble(current);
  });
  if (problem === undefined) deps.log.info({ host: host.name }, 'a host is in service again');
}
