/** Hosts of jobs by state, and builds that want some, as the scheduler that grants hosts sees them. */
import { type HostState, isInService, type NodeGrant } from '../model/static-host.ts';
import type { Measurement } from './measurement.ts';

interface Row {
  readonly host: { readonly name: string };
  readonly state?: HostState;
}

/** The words of `gatehouse nodes`. Each state has its value, also 0. */
export function nodeMeasurements(
  rows: readonly Row[],
  requests: {
    readonly waiting: readonly unknown[];
    readonly granted: readonly { readonly grant: NodeGrant }[];
  },
): readonly Measurement[] {
  const used = new Set(requests.granted.flatMap(({ grant }) => grant.hosts.map(({ host }) => host)));
  const counts = { ready: 0, 'in-use': 0, hold: 0, failed: 0 };
  for (const { host, state } of rows) {
    if (state?.held !== undefined) counts.hold += 1;
    else if (!isInService(state)) counts.failed += 1;
    else counts[used.has(host.name) ? 'in-use' : 'ready'] += 1;
  }
  const ofRequests = { requested: requests.waiting.length, fulfilled: requests.granted.length };
  return [
    ...Object.entries(counts).map(
      ([state, value]): Measurement => ({ metric: 'gatehouse_nodes', labels: { state }, value }),
    ),
    ...Object.entries(ofRequests).map(
      ([state, value]): Measurement => ({ metric: 'gatehouse_node_requests', labels: { state }, value }),
    ),
  ];
}
