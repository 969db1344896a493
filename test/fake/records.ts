/** Records with every field that a reader asks for, and nothing in them. */
import { type Nanoseconds, parseNanoseconds } from '../../src/lib/clock.ts';
import { spanIdOf, traceIdOf, type Uuid } from '../../src/lib/ids.ts';
import type { BuildRequest } from '../../src/model/build-request.ts';
import type { BuildSet } from '../../src/model/build-set.ts';
import type { ResetCause } from '../../src/model/cause.ts';
import type { FrozenJob, JobNode } from '../../src/model/job.ts';
import type { LayoutSummary } from '../../src/model/layout.ts';
import type { QueueItem } from '../../src/model/queue-item.ts';
import type { ReportDetails } from '../../src/model/report.ts';

export function emptyFrozenJob(parts: Partial<FrozenJob> = {}): FrozenJob {
  return {
    name: 'unit',
    preRun: [],
    run: [],
    postRun: [],
    attempts: 3,
    voting: true,
    dependencies: [],
    requiredProjects: [],
    vars: {},
    nodes: [],
    holdFollowingChanges: false,
    failFast: false,
    network: false,
    tags: [],
    definedAt: [],
    ...parts,
  };
}

export function emptyJobNode(name: string, parts: Partial<JobNode> = {}): JobNode {
  return {
    name,
    voting: true,
    attempts: 3,
    dependencies: [],
    holdFollowingChanges: false,
    failFast: false,
    labels: [],
    ...parts,
  };
}

export function emptyBuildSet(
  uuid: Uuid,
  number: number,
  createdAt: Nanoseconds,
  cause: ResetCause | null,
): BuildSet {
  return {
    uuid,
    number,
    createdAt,
    cause,
    stage: { state: 'new' },
    mergerWork: [],
    turnWork: [],
    conflict: null,
    configErrors: [],
    filesChanged: [],
    builds: [],
  };
}

/** An item of a gate that an approval enqueued, just now. @param causes uuids of the code host's event and the tenant's. */
export function emptyQueueItem(
  parts: Partial<QueueItem> & Pick<QueueItem, 'uuid' | 'changes' | 'enqueuedAt' | 'buildset' | 'timeline'>,
  causes: { readonly event: Uuid; readonly tenantEvent: Uuid; readonly receivedAt: Nanoseconds },
): QueueItem {
  const { event, tenantEvent, receivedAt } = causes;
  return {
    tenant: 'acme',
    pipeline: 'gate',
    queue: 'integrated',
    role: 'live',
    origin: {
      event,
      eventType: 'approved',
      eventSpan: { traceId: traceIdOf(event), spanId: spanIdOf(event) },
      tenantSpan: { traceId: traceIdOf(tenantEvent), spanId: spanIdOf(tenantEvent) },
      receivedAt,
      connection: 'local',
    },
    sampled: true,
    position: null,
    phase: { phase: 'queued' },
    behind: null,
    dependsOn: [],
    earlier: [],
    events: [],
    reports: [],
    startReported: false,
    ...parts,
  };
}

export function emptyBuildRequest(
  parts: Partial<BuildRequest> & { readonly uuid: Uuid; readonly item: Uuid; readonly buildset: Uuid },
): BuildRequest {
  return {
    tenant: 'acme',
    pipeline: 'gate',
    job: emptyFrozenJob(),
    jobName: 'unit',
    attempt: 1,
    requestedAt: parseNanoseconds('1795200000000000000'),
    priority: 200,
    projects: [],
    playbooks: { preRun: [], run: [], postRun: [] },
    zuul: {},
    trace: null,
    ...parts,
  };
}

export function emptyLayout(parts: Partial<LayoutSummary> = {}): LayoutSummary {
  return {
    tenant: 'acme',
    version: 1,
    reconfiguredAt: parseNanoseconds('1'),
    projects: [],
    pipelines: [],
    retired: [],
    jobs: [],
    semaphores: [],
    cycleConnections: [],
    errors: [],
    errorCount: 0,
    builtFrom: null,
    ...parts,
  };
}

export const NO_DETAILS: ReportDetails = {
  changes: [],
  headline: '',
  reason: null,
  jobs: [],
  fileComments: [],
  retests: [],
  queue: null,
  traceUrl: null,
};
