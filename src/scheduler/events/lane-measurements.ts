/** Lanes of a connection that wait for their code host, by reason. */
import type { Measurement } from '../../metrics/measurement.ts';
import type { LookTries } from './look-tries.ts';

export function* laneMeasurements(
  connection: string,
  troubled: Iterable<readonly [lane: string, tries: LookTries]>,
): Iterable<Measurement> {
  const lanes = new Map<string, number>();
  for (const [, { failure }] of troubled)
    if (failure?.kind === 'later') lanes.set(failure.reason, (lanes.get(failure.reason) ?? 0) + 1);
  for (const [reason, value] of lanes)
    yield { metric: 'gatehouse_connection_lanes_waiting', labels: { connection, reason }, value };
}
