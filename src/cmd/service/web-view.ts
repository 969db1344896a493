/** What the web shows, taken from the live copy of the store. */
import type { Connection } from '../../driver/connection.ts';
import type { Clock } from '../../lib/clock.ts';
import { toMilliseconds } from '../../lib/clock.ts';
import type { LayoutSummary } from '../../model/layout.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import { type ConnectionName, projectIdOf, type TenantName } from '../../model/project.ts';
import type { LiveTenants } from '../../store/live-tenants.ts';
import type { SpanSender } from '../../tracing/otlp/sender.ts';
import type { TenantSnapshot, TracingHealth } from '../../web/deps.ts';
import type { OutboxView } from './outbox-view.ts';
import type { WaitingEvents } from './waiting-events.ts';

export interface WebViewDeps {
  readonly live: LiveTenants;
  readonly waiting: Pick<WaitingEvents, 'ofConnection' | 'ofTenant'>;
  readonly clock: Clock;
  readonly connections: ReadonlyMap<ConnectionName, Connection>;
  /** Undefined: tracing is off. */
  readonly spans: SpanOutbox | undefined;
}

export interface SpanOutbox {
  readonly outbox: Pick<OutboxView, 'waiting' | 'oldest'>;
  /** Of this process; undefined: another one sends, or none yet. */
  readonly sender: () => SpanSender | undefined;
}

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
    projects: layout.projects.map(({ project, trusted }) => ({
      project,
      trusted,
      canonicalName: canonicalName(project, deps),
    })),
    jobs: layout.jobs.map(name => ({ name })),
    tracing: deps.spans === undefined ? null : tracingHealth(deps.spans, deps.clock),
  };
}

/** Those of the configuration, and vanished ones as long as they hold something. */
function shownPipelines(tenant: TenantName, layout: LayoutSummary, live: LiveTenants): readonly Pipeline[] {
  const retired = layout.retired.filter(pipeline => live.pipeline(tenant, pipeline.name).items.size > 0);
  return [...layout.pipelines, ...retired];
}

function canonicalName(project: Parameters<typeof projectIdOf>[0], deps: WebViewDeps): string {
  const { connection, name } = projectIdOf(project);
  return `${deps.connections.get(connection)?.canonicalHostname ?? connection}/${name}`;
}

/** Milliseconds a span may wait before people should know, where the sender's own view is in another process. */
const LONG_WAIT = 60_000;

function tracingHealth({ outbox, sender }: SpanOutbox, clock: Clock): TracingHealth {
  const waiting = { waiting: outbox.waiting(), oldestWaiting: outbox.oldest() };
  const health = sender()?.health();
  if (health !== undefined && health.state !== 'idle') {
    const problem =
      health.state === 'failing' ? (health.lastError?.text ?? 'the collector does not answer') : null;
    return { ...waiting, delivered: health.sent, lost: health.lost, problem };
  }
  const { oldestWaiting } = waiting;
  const stuck =
    oldestWaiting !== null && toMilliseconds(clock.now()) - toMilliseconds(oldestWaiting) > LONG_WAIT;
  const problem = stuck ? 'nobody sends them; the log of the schedulers tells why' : null;
  return { ...waiting, delivered: health === undefined ? null : 0, lost: {}, problem };
}
