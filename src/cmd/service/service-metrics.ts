/** Metrics read from this process's state at each scrape. */
import type { Connection } from '../../driver/connection.ts';
import type { HostStream } from '../../driver/usage.ts';
import type { Executor } from '../../executor/executor.ts';
import { toMilliseconds } from '../../lib/clock.ts';
import type { Measurement } from '../../metrics/measurement.ts';
import { TRACE_FAULTS, type TraceCounts, type TraceFault } from '../../model/trace-health.ts';
import type { OutboxCounters } from '../../store/outbox-drain.ts';
import type { Store } from '../../store/port.ts';
import type { ComponentHealth } from '../../web/deps.ts';
import type { SpanDelivery } from './deliveries.ts';
import type { LiveView } from './live-view.ts';

/** What this process asks of the hosts of the connections whose drivers count it. */
export function* usageMeasurements(
  connections: Iterable<Pick<Connection, 'name' | 'usage'>>,
): Iterable<Measurement> {
  for (const { name, usage } of connections) {
    if (usage === undefined) continue;
    const connection = name;
    const { requests, budgets, closedReports, stream } = usage.now();
    for (const { count, ...labels } of requests)
      yield { metric: 'gatehouse_connection_requests', labels: { connection, ...labels }, value: count };
    for (const { remaining, ...labels } of budgets)
      yield {
        metric: 'gatehouse_connection_budget_remaining',
        labels: { connection, ...labels },
        value: remaining,
      };
    yield { metric: 'gatehouse_connection_reports_closed', labels: { connection }, value: closedReports };
    if (stream !== undefined) yield* streamMeasurements(connection, stream);
  }
}

function* streamMeasurements(
  connection: string,
  { connected, lastLineAt, gaps }: HostStream,
): Iterable<Measurement> {
  const labels = { connection };
  yield { metric: 'gatehouse_connection_stream_connected', labels, value: connected ? 1 : 0 };
  yield { metric: 'gatehouse_connection_stream_gaps', labels, value: gaps };
  if (lastLineAt === null) return;
  const value = toMilliseconds(lastLineAt) / 1000;
  yield { metric: 'gatehouse_connection_stream_last_line_timestamp_seconds', labels, value };
}

/** Span outbox, as its drain last saw it, and span sender. */
export function deliveryMeasurements({
  sender,
  outbox,
}: Pick<SpanDelivery, 'sender' | 'outbox'>): readonly Measurement[] {
  const health = sender()?.health();
  return [
    ...outboxMeasurements('spans', outbox()),
    ...(health === undefined
      ? []
      : ([
          { metric: 'gatehouse_spans_sent', labels: {}, value: health.sent },
          { metric: 'gatehouse_span_requests_failed', labels: {}, value: health.failedRequests },
          { metric: 'gatehouse_span_requests_partial', labels: {}, value: health.partialSuccesses },
          ...traceMeasurements(health.traces.totals),
        ] as const)),
    ...Object.entries(health?.lost ?? {}).map(
      ([reason, value]): Measurement => ({ metric: 'gatehouse_spans_lost', labels: { reason }, value }),
    ),
  ];
}

function traceMeasurements({ judged, untiledNs, ...counts }: TraceCounts): readonly Measurement[] {
  const faults = (Object.keys(TRACE_FAULTS) as readonly TraceFault[]).map(
    (fault): Measurement => ({ metric: 'gatehouse_trace_faults', labels: { fault }, value: counts[fault] }),
  );
  return [
    { metric: 'gatehouse_traces_judged', labels: {}, value: judged },
    { metric: 'gatehouse_trace_untiled_seconds', labels: {}, value: untiledNs / 1e9 },
    ...faults,
  ];
}

/** @param counters undefined: another process delivers that outbox, or it was not read yet. */
export function outboxMeasurements(
  outbox: string,
  counters: OutboxCounters | undefined,
): readonly Measurement[] {
  if (counters === undefined) return [];
  const labels = { outbox };
  return [
    { metric: 'gatehouse_outbox_rows', labels, value: counters.depth },
    { metric: 'gatehouse_outbox_bytes', labels, value: counters.bytes },
    { metric: 'gatehouse_outbox_oldest_seconds', labels, value: counters.oldestAgeMs / 1000 },
  ];
}

/** 1: ready, 0: not; one for each component of this process. */
export function healthMeasurements(health: readonly ComponentHealth[]): readonly Measurement[] {
  return health.map(({ component, ready }) => ({
    metric: 'gatehouse_component_ready',
    labels: { component },
    value: ready ? 1 : 0,
  }));
}

/** @param sessions newest session by name. */
export function sessionMeasurements(
  sessions: ReadonlyMap<string, Pick<Store, 'sessionState'>>,
): readonly Measurement[] {
  return [...sessions].map(([session, { sessionState }]) => ({
    metric: 'gatehouse_store_session',
    labels: { session },
    value: sessionState === 'connected' ? 1 : 0,
  }));
}

/** @param executor name of its machine. @param slots builds it may run at a time. */
export function executorMeasurements(
  executor: string,
  running: Pick<Executor, 'running'>,
  slots: number,
): readonly Measurement[] {
  const builds = running.running();
  const paused = builds.filter(build => build.paused).length;
  return [
    { metric: 'gatehouse_builds_running', labels: { executor }, value: builds.length - paused },
    { metric: 'gatehouse_builds_paused', labels: { executor }, value: paused },
    { metric: 'gatehouse_build_slots', labels: { executor }, value: slots },
  ];
}

/** @param view undefined: nothing was read yet. */
export function viewMeasurements(view: LiveView | undefined): readonly Measurement[] {
  if (view === undefined) return [];
  const { waiting, requests } = view;
  const tenants = view.live.tenants();
  const ofPipelines = tenants.flatMap(tenant =>
    (view.live.layout(tenant)?.pipelines ?? []).map(({ name }) => view.live.waitingEvents(tenant, name)),
  );
  return [
    ...(['merge', 'build'] as const).map(
      (kind): Measurement => ({ metric: 'gatehouse_requests', labels: { kind }, value: requests.of(kind) }),
    ),
    events('connection', waiting.ofConnections()),
    events('tenant', total(tenants.map(tenant => waiting.ofTenant(tenant)))),
    events('pipeline', total(ofPipelines)),
  ];
}

function events(queue: string, value: number): Measurement {
  return { metric: 'gatehouse_events_waiting', labels: { queue }, value };
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
