/**
 * One codec per stored record. A version is raised when an old reader must not read the new form; the step from the one before
 * goes into upgrades.ts. What is stored without a codec, and why, is in `doc/zookeeper-map.md`.
 */
import { recordCodec, upgradeFrom } from './record.ts';
import { json } from './schema.ts';
import { changeRecordSchema } from './schemas/change.ts';
import { connectionEventSchema, pipelineEventSchema, tenantEventSchema } from './schemas/events.ts';
import { reportIntentSchema } from './schemas/intents.ts';
import { pipelineCountersSchema, queueItemSchema } from './schemas/items.ts';
import { buildRequestSchema, jobGraphSchema } from './schemas/jobs.ts';
import { layoutSummarySchema } from './schemas/layout.ts';
import { branchConfigSchema, mergerOutcomeSchema, mergerRequestSchema } from './schemas/merges.ts';
import {
  componentSchema,
  connectionReportSchema,
  historyRowsSchema,
  senderReportSchema,
} from './schemas/reports.ts';
import { spansSchema } from './schemas/spans.ts';
import { componentFrom1, layoutFrom1, pipelineEventFrom2, sameForm } from './upgrades.ts';

export const connectionEventCodec = recordCodec('connection-event', 1, connectionEventSchema);
export const tenantEventCodec = recordCodec('tenant-event', 1, tenantEventSchema);
export const pipelineEventCodec = recordCodec('pipeline-event', 3, pipelineEventSchema, [
  upgradeFrom(sameForm),
  upgradeFrom(pipelineEventFrom2),
]);
export const queueItemCodec = recordCodec('queue-item', 2, queueItemSchema, [upgradeFrom(sameForm)]);
export const pipelineCountersCodec = recordCodec('pipeline', 1, pipelineCountersSchema);
export const changeRecordCodec = recordCodec('change', 1, changeRecordSchema);
export const jobGraphCodec = recordCodec('job-graph', 1, jobGraphSchema);
export const branchConfigCodec = recordCodec('branch-config', 1, branchConfigSchema);
export const mergerRequestCodec = recordCodec('merger-request', 1, mergerRequestSchema);
export const buildRequestCodec = recordCodec('build-request', 1, buildRequestSchema);
export const spansCodec = recordCodec('spans', 1, spansSchema);
export const historyRowsCodec = recordCodec('history-rows', 2, historyRowsSchema, [upgradeFrom(sameForm)]);
export const driverMemoryCodec = recordCodec('driver-memory', 1, json);
export const mergerOutcomeCodec = recordCodec('merger-outcome', 1, mergerOutcomeSchema);
export const layoutSummaryCodec = recordCodec('layout', 2, layoutSummarySchema, [upgradeFrom(layoutFrom1)]);
export const componentCodec = recordCodec('component', 2, componentSchema, [upgradeFrom(componentFrom1)]);
export const senderReportCodec = recordCodec('sender-report', 1, senderReportSchema);
export const connectionReportCodec = recordCodec('connection-report', 1, connectionReportSchema);
export const reportIntentCodec = recordCodec('report-intent', 1, reportIntentSchema);
