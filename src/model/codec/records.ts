/**
 * One codec per stored record. A version is raised when an old reader must not read the new form; the step from the one before
 * goes into upgrades.ts. What is stored without a codec, and why, is in `doc/zookeeper-map.md`.
 */
import type { BuildRequest } from '../build-request.ts';
import type { ChangeRecord } from '../change.ts';
import type { ComponentRecord } from '../component.ts';
import type { ConnectionReport } from '../connection-health.ts';
import type { ConnectionEvent, PipelineEvent, TenantEvent } from '../event.ts';
import type { HistoryRow } from '../history.ts';
import type { JobGraph, Json } from '../job.ts';
import type { LayoutSummary } from '../layout.ts';
import type { BranchConfig, MergerOutcome, MergerRequest } from '../merge.ts';
import type { PipelineCounters } from '../pipeline-state.ts';
import type { QueueItem } from '../queue-item.ts';
import type { ReportIntent } from '../report-intent.ts';
import type { SenderReport } from '../sender-report.ts';
import type { SpanRecord } from '../span.ts';
import { recordCodec, upgradeFrom } from './record.ts';
import { componentFrom1, layoutFrom1, pipelineEventFrom2, sameForm } from './upgrades.ts';

export const connectionEventCodec = recordCodec<ConnectionEvent>('connection-event', 1);
export const tenantEventCodec = recordCodec<TenantEvent>('tenant-event', 1);
export const pipelineEventCodec = recordCodec<PipelineEvent>('pipeline-event', 3, [
  upgradeFrom(sameForm),
  upgradeFrom(pipelineEventFrom2),
]);
export const queueItemCodec = recordCodec<QueueItem>('queue-item', 2, [upgradeFrom(sameForm)]);
export const pipelineCountersCodec = recordCodec<PipelineCounters>('pipeline', 1);
export const changeRecordCodec = recordCodec<ChangeRecord>('change', 1);
export const jobGraphCodec = recordCodec<JobGraph>('job-graph', 1);
export const branchConfigCodec = recordCodec<BranchConfig>('branch-config', 1);
export const mergerRequestCodec = recordCodec<MergerRequest>('merger-request', 1);
export const buildRequestCodec = recordCodec<BuildRequest>('build-request', 1);
export const spansCodec = recordCodec<readonly SpanRecord[]>('spans', 1);
export const historyRowsCodec = recordCodec<readonly HistoryRow[]>('history-rows', 2, [
  upgradeFrom(sameForm),
]);
export const driverMemoryCodec = recordCodec<Json>('driver-memory', 1);
export const mergerOutcomeCodec = recordCodec<MergerOutcome>('merger-outcome', 1);
export const layoutSummaryCodec = recordCodec<LayoutSummary>('layout', 2, [upgradeFrom(layoutFrom1)]);
export const componentCodec = recordCodec<ComponentRecord>('component', 2, [upgradeFrom(componentFrom1)]);
export const senderReportCodec = recordCodec<SenderReport>('sender-report', 1);
export const connectionReportCodec = recordCodec<ConnectionReport>('connection-report', 1);
export const reportIntentCodec = recordCodec<ReportIntent>('report-intent', 1);
