/** A tenant's snapshot for the web, from the live copy of the store. */

import type { TenantSnapshot, TracingHealth } from '../../api/tenant-snapshot.ts';
import type { Connection } from '../../driver/connection.ts';
import type { Clock } from '../../lib/clock.ts';
import { toMilliseconds } from '../../lib/clock.ts';
import type { ConnectionReport } from '../../model/connection-health.ts';
import type { LayoutSummary } from '../../model/layout.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import { type ConnectionName, projectIdOf, type TenantName } from '../../model/project.ts';
import type { SenderReport } from '../../model/sender-report.ts';
import type { LiveTenants } from '../../store/live-tenants.ts';
import type { OutboxView } from './outbox-view.ts';
import type { RecordView } from './record-view.ts';
import type { WaitingEvents } from './waiting-events.ts';

/** All of it is in memory: a snapshot reads nothing from the store. */
export interface WebViewDeps {
  readonly live: LiveTenants;
  readonly waiting: Pick<WaitingEvents, 'ofConnection' | 'ofTenant'>;
  readonly clock: Clock;
  readonly connections: ReadonlyMap<ConnectionName, Connection>;
  readonly connectionReport: (connection: ConnectionName) => Pick<ConnectionReport, 'faults'> | undefined;
  /** Undefined: tracing is off. */
  readonly spans: SpanOutbox | undefined;
}

interface SpanOutbox {
  readonly outbox: Pick<OutboxView, 'waiting' | 'oldest'>;
  readonly report: Pick<RecordView<SenderReport>, 'value'>;
}

/** Undefined: the tenant has no layout yet. A pipeline removed from the configuration is shown while it holds items. */
export function snapshotOf(tenant: TenantName, deps: WebViewDeps): TenantSnapshot | undefined {
  const layout = deps.live.layout(tenant);
  if (layout === undefined) return undefined;
  return {
    pipelines: shownPipelines(tenant, layout, deps.live).map(pipeline => ({
      pipeline,
      state: deps.live.pipeline(tenant, pipeline.name),
      triggerEvents: deps.live.waitingEvents(tenant, pipeline.name),
      resultEvents: 0,
      managementEvents: 0,
    })),
    reconfiguredAt: layout.reconfiguredAt,
    triggerEvents: deps.waiting.ofTenant(tenant),
    managementEvents: 0,
    connectionEvents: Object.fromEntries(
      [...deps.connections.keys()].map(name => [name, deps.waiting.ofConnection(name)]),
    ),
    configErrors: layout.errors,
    hostFaults: hostFaultsOf(layout, deps),
    projects: layout.projects.map(({ project, trusted }) => ({
      project,
      trusted,
      canonicalName: canonicalName(project, deps),
    })),
    semaphores: layout.semaphores,
    jobs: layout.jobs.map(name => ({ name })),
    ...(layout.builtFrom === null ? {} : { labels: layout.builtFrom.tenant }),
    tracing: deps.spans === undefined ? null : tracingHealth(deps.spans, deps.clock),
  };
}

/** Of the tenant's connections and projects: another tenant's are none of its business. */
function hostFaultsOf(
  { projects, cycleConnections }: LayoutSummary,
  { connectionReport }: Pick<WebViewDeps, 'connectionReport'>,
): TenantSnapshot['hostFaults'] {
  const byConnection = Map.groupBy(
    projects.map(({ project }) => projectIdOf(project)),
    ({ connection }) => connection,
  );
  return [...byConnection].flatMap(([connection, ids]) =>
    (connectionReport(connection)?.faults ?? [])
      .filter(({ project }) => project === null || ids.some(({ name }) => name === project))
      .filter(({ onlyForCycles }) => !onlyForCycles || cycleConnections.includes(connection))
      .map(({ project, severity, text }) => ({ connection, project, severity, text })),
  );
}

/** Configured pipelines, and removed ones that still hold items. */
function shownPipelines(tenant: TenantName, layout: LayoutSummary, live: LiveTenants): readonly Pipeline[] {
  const retired = layout.retired.filter(pipeline => live.pipeline(tenant, pipeline.name).items.size > 0);
  return [...layout.pipelines, ...retired];
}

function canonicalName(project: Parameters<typeof projectIdOf>[0], deps: WebViewDeps): string {
  const { connection, name } = projectIdOf(project);
  return `${deps.connections.get(connection)?.canonicalHostname ?? connection}/${name}`;
}

/** Milliseconds a span may wait before it counts as a problem, even if no sender reports one. */
const LONG_WAIT = 60_000;

function tracingHealth({ outbox, report }: SpanOutbox, clock: Clock): TracingHealth {
  const oldestWaiting = outbox.oldest();
  const sender = report.value() ?? null;
  const failing =
    sender?.state === 'failing' ? (sender.lastError?.text ?? 'the collector does not answer') : null;
  const stuck =
    oldestWaiting !== null && toMilliseconds(clock.now()) - toMilliseconds(oldestWaiting) > LONG_WAIT;
  return {
    waiting: outbox.waiting(),
    oldestWaiting,
    delivered: sender?.sent ?? null,
    lost: sender?.lost ?? {},
    sender,
    problem: failing ?? (stuck ? 'no scheduler sends them; see the log of the schedulers' : null),
  };
}
