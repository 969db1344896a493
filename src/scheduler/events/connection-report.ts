/** How a connection's code host serves, as its holder reports it: to the webs over the store, and to its own metrics. */
import type { Connection } from '../../driver/connection.ts';
import type { HealthView } from '../../driver/health.ts';
import { toMilliseconds } from '../../lib/clock.ts';
import type { Measurement } from '../../metrics/measurement.ts';
import type { ConnectionReport, WaitingLane } from '../../model/connection-health.ts';
import type { ReadTries } from './read-tries.ts';

type Troubled = Iterable<readonly [lane: string, tries: ReadTries]>;

/** Lanes shown; the record stays small. */
const MOST_LANES = 20;

/**
 * @param health as the driver knows it.
 * @param troubled lanes that are held or being retried; the first {@link MOST_LANES} that wait for the host are shown.
 */
export function connectionReport(
  health: HealthView,
  troubled: Troubled,
  writer: Pick<ConnectionReport, 'at' | 'holder'>,
): ConnectionReport {
  const waiting = waitingLanes(troubled);
  return {
    ...health.now(),
    ...writer,
    waitingLanes: waiting.length,
    waiting: waiting.slice(0, MOST_LANES),
  };
}

function waitingLanes(troubled: Troubled): readonly WaitingLane[] {
  return [...troubled].flatMap(([lane, { failure, waits }]) => {
    const since = waits.at(-1)?.startedAt;
    if (failure?.kind !== 'later' || since === undefined) return [];
    const { reason, text, retryAt } = failure;
    return [{ lane, reason, text, since, retryAt }];
  });
}

/** Read at each scrape. Without `health` only the waiting lanes are measured. */
export function* connectionMeasurements(
  { name, health }: Pick<Connection, 'name' | 'health'>,
  troubled: Troubled,
): Iterable<Measurement> {
  const lanes = new Map<string, number>();
  for (const { reason } of waitingLanes(troubled)) lanes.set(reason, (lanes.get(reason) ?? 0) + 1);
  for (const [reason, value] of lanes)
    yield { metric: 'gatehouse_connection_lanes_waiting', labels: { connection: name, reason }, value };
  const known = health?.now();
  if (known === undefined) return;
  const labels = { connection: name };
  const serves = known.state === 'serving' || known.state === 'unknown';
  yield { metric: 'gatehouse_connection_serving', labels, value: serves ? 1 : 0 };
  yield { metric: 'gatehouse_connection_events_missed', labels, value: known.missed };
  if (known.lastEventAt === null) return;
  const value = toMilliseconds(known.lastEventAt) / 1000;
  yield { metric: 'gatehouse_connection_last_event_timestamp_seconds', labels, value };
}
