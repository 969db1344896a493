/**
 * One codec per stored record. A version is raised when an old reader must not read the new form; the step from the one before
 * goes into upgrades.ts. What a record may hold is in schemas/: one file for each record, and for what several hold (access, buildsets,
 * causes, change, events, intents, internal-events, items, jobs, keys, layout, merges, questions, reports, spans, static-hosts, ticks, watched-tests). What is stored without a codec, and why, is in `doc/zookeeper-map.md`.
 */
import { recordCodec, upgradeFrom } from './record.ts';
import { json } from './schema.ts';
import { accessRequestSchema } from './schemas/access.ts';
import { semaphoreHolderSchema } from './schemas/buildsets.ts';
import { changeRecordSchema } from './schemas/change.ts';
import { connectionEventSchema, pipelineEventSchema, tenantEventSchema } from './schemas/events.ts';
import { reportIntentSchema, watchedItemsSchema } from './schemas/intents.ts';
import { internalEventSchema } from './schemas/internal-events.ts';
import { pipelineCountersSchema, queueItemSchema } from './schemas/items.ts';
import { buildRequestSchema, jobGraphSchema } from './schemas/jobs.ts';
import { keystoreSchema, projectKeysSchema } from './schemas/keys.ts';
import { layoutSummarySchema } from './schemas/layout.ts';
import {
  branchConfigSchema,
  chainRecipeSchema,
  mergerOutcomeSchema,
  mergerRequestSchema,
} from './schemas/merges.ts';
import { questionSchema } from './schemas/questions.ts';
import {
  componentSchema,
  connectionReportSchema,
  historyRowsSchema,
  senderReportSchema,
} from './schemas/reports.ts';
import { spansSchema } from './schemas/spans.ts';
import {
  holdRequestSchema,
  hostStateSchema,
  kubernetesPoolSchema,
  staticHostSchema,
} from './schemas/static-hosts.ts';
import { tickSchema, timerMarkSchema } from './schemas/ticks.ts';
import { watchedTestsSchema } from './schemas/watched-tests.ts';
import { componentFrom1, layoutFrom1, pipelineEventFrom2, sameForm } from './upgrades.ts';

/** An entry of a connection's event queue. */
export const connectionEventCodec = recordCodec('connection-event', 1, connectionEventSchema);
/** An entry of a tenant's event queue. */
export const tenantEventCodec = recordCodec('tenant-event', 2, tenantEventSchema, [upgradeFrom(sameForm)]);
/** An entry of a pipeline's event queue. */
export const pipelineEventCodec = recordCodec('pipeline-event', 4, pipelineEventSchema, [
  upgradeFrom(sameForm),
  upgradeFrom(pipelineEventFrom2),
  upgradeFrom(sameForm),
]);
/** An item of a pipeline, one node each. */
export const queueItemCodec = recordCodec('queue-item', 3, queueItemSchema, [
  upgradeFrom(sameForm),
  upgradeFrom(sameForm),
]);
/** A pipeline's queues and counters, one node. */
export const pipelineCountersCodec = recordCodec(
  'pipeline',
  2,
  pipelineCountersSchema,
  [upgradeFrom(sameForm)],
  'packed',
);
/** An entry of a connection's change cache. */
export const changeRecordCodec = recordCodec('change', 1, changeRecordSchema);
/** The frozen jobs of a buildset, a blob named by its hash. */
export const jobGraphCodec = recordCodec('job-graph', 3, jobGraphSchema, [
  upgradeFrom(sameForm),
  upgradeFrom(sameForm),
]);
/** What was merged for one item behind others, a blob named by its hash. */
export const chainRecipeCodec = recordCodec('chain-recipe', 1, chainRecipeSchema, [], 'packed');
/** Configuration files of one branch, in the configuration cache. */
export const branchConfigCodec = recordCodec('branch-config', 1, branchConfigSchema);
/** A request to mergers. */
export const mergerRequestCodec = recordCodec(
  'merger-request',
  3,
  mergerRequestSchema,
  [upgradeFrom(sameForm), upgradeFrom(sameForm)],
  'packed',
);
/** A request to executors. */
export const buildRequestCodec = recordCodec(
  'build-request',
  4,
  buildRequestSchema,
  [upgradeFrom(sameForm), upgradeFrom(sameForm), upgradeFrom(sameForm)],
  'packed',
);
/** A row of the span outbox. */
export const spansCodec = recordCodec('spans', 2, spansSchema, [upgradeFrom(sameForm)], 'packed');
/** A row of the history outbox. */
export const historyRowsCodec = recordCodec(
  'history-rows',
  3,
  historyRowsSchema,
  [upgradeFrom(sameForm), upgradeFrom(sameForm)],
  'packed',
);
/** What a driver keeps of its host between events; its own JSON. */
export const driverMemoryCodec = recordCodec('driver-memory', 2, json, [upgradeFrom(sameForm)], 'packed');
/** The answer of a merger to a request for configuration files. */
export const mergerOutcomeCodec = recordCodec('merger-outcome', 1, mergerOutcomeSchema);
/** The summary of a tenant's layout. Version 3 may say who may read the tenant: a web that ignored it would show it to all. */
export const layoutSummaryCodec = recordCodec('layout', 3, layoutSummarySchema, [
  upgradeFrom(layoutFrom1),
  upgradeFrom(sameForm),
]);
/** A running component; the node is ephemeral. */
export const componentCodec = recordCodec('component', 2, componentSchema, [upgradeFrom(componentFrom1)]);
/** The state of span delivery. */
export const senderReportCodec = recordCodec('sender-report', 1, senderReportSchema);
/** The health of a connection. */
export const connectionReportCodec = recordCodec('connection-report', 1, connectionReportSchema);
/** A report to be made, in the report outbox of a pipeline. */
export const reportIntentCodec = recordCodec('report-intent', 1, reportIntentSchema);
/** What is remembered of a pipeline's items for notices. */
export const pipelineNoticesCodec = recordCodec('pipeline-notices', 1, watchedItemsSchema, [], 'packed');
/** An executor's request for access to a repository, and its answer; the node is ephemeral. */
export const accessRequestCodec = recordCodec('access-request', 1, accessRequestSchema);
/** Who holds a slot of a semaphore. */
export const semaphoreHolderCodec = recordCodec('semaphore-holder', 1, semaphoreHolderSchema);
/** A question about a change, asked at the code host, in the queue of its connection. */
export const questionCodec = recordCodec('question', 1, questionSchema);
/** How the keys of projects are sealed. */
export const keystoreCodec = recordCodec('keystore', 1, keystoreSchema);
/** The keys of one project. */
export const projectKeysCodec = recordCodec('project-keys', 1, projectKeysSchema);
/** Up to when the timers of a tenant have ticked. */
export const timerMarkCodec = recordCodec('timers', 1, timerMarkSchema);
/** A tick of a timer that is not an event for each branch yet. */
export const tickCodec = recordCodec('tick', 1, tickSchema);
/** Something that Gatehouse did with an item, for pipelines that start because of it. */
export const internalEventCodec = recordCodec('internal-event', 1, internalEventSchema);
/** A host of `nodes.yaml`. */
export const staticHostCodec = recordCodec('static-host', 1, staticHostSchema);
/** A provider of `nodes.yaml` that makes pods. */
export const kubernetesPoolCodec = recordCodec('kubernetes-pool', 1, kubernetesPoolSchema);
/** How a host fares. */
export const hostStateCodec = recordCodec('host-state', 1, hostStateSchema);
/** Tests of a project that failed lately. */
export const watchedTestsCodec = recordCodec('watched-tests', 1, watchedTestsSchema);
/** A request to hold the hosts of failed builds. */
export const holdRequestCodec = recordCodec('hold-request', 1, holdRequestSchema);
