/** The events in the queues of connections, tenants and pipelines. */
import type {
  ConnectionEvent,
  EventOrigin,
  PipelineEvent,
  ReportOutcome,
  TenantEvent,
  TriggerEvent,
} from '../../event.ts';
import type { Landed, LandedBranch } from '../../landed.ts';
import type { ManagementOrigin, RequestedChange } from '../../management-event.ts';
import {
  change,
  commit,
  either,
  flag,
  json,
  list,
  mark,
  nullable,
  object,
  optional,
  project,
  type Schema,
  tagged,
  text,
  time,
  uuid,
  whole,
  words,
} from '../schema.ts';
import { executionSchema, madeNodeSchema, returnedSchema, workerEndSchema } from './buildsets.ts';
import { buildResultSchema, hostTroubleSchema } from './causes.ts';
import { changeSchema } from './change.ts';
import { reportPartsSchema } from './items.ts';
import { buildTraceSchema } from './jobs.ts';
import { mergerOutcomeSchema, workerLossSchema } from './merges.ts';
import { spanReferenceSchema, spansSchema } from './spans.ts';

/** {@link ConnectionEvent}, the record `connection-event`. */
export const connectionEventSchema = object<ConnectionEvent>({
  uuid,
  connection: text,
  deliveryId: text,
  type: text,
  payload: json,
  receivedAt: time,
  storedAt: time,
  receiver: optional(text),
  madeAt: optional(time),
  foundBy: optional(text),
  installation: optional(text),
  action: optional(text),
  sampled: flag,
});

const triggerEvent = object<TriggerEvent>({
  uuid,
  connection: text,
  driver: text,
  type: text,
  project,
  branch: nullable(text),
  ref: nullable(text),
  change: changeSchema,
  tree: optional(text),
  facts: json,
  ownReport: optional(text),
  ownReportsInARow: optional(whole),
  configMayHaveChanged: list(text),
  branchesChanged: flag,
  receivedAt: time,
  sampled: flag,
  traceState: optional(text),
  heldSpans: optional(spansSchema),
  span: spanReferenceSchema,
});

const originFields = { span: spanReferenceSchema, sampled: flag };
/** {@link EventOrigin} */
export const originSchema = object<EventOrigin>(originFields);

const managementSchema = object<ManagementOrigin>({
  receivedAt: time,
  storedAt: time,
  receiver: optional(text),
  caller: optional(spanReferenceSchema),
  follows: optional(spanReferenceSchema),
  sampled: flag,
});

const wantedChange = tagged<RequestedChange, 'kind'>('kind', {
  change: { key: change, patchset: optional(text) },
  ref: { project, ref: text, from: nullable(commit), to: nullable(commit) },
});

/** {@link TenantEvent}, the record `tenant-event`. */
export const tenantEventSchema = tagged<TenantEvent, 'kind'>('kind', {
  trigger: { uuid, tenant: text, trigger: triggerEvent, queuedAt: time },
  'first-look': {
    uuid,
    tenant: text,
    project,
    landed: optional(object({ branch: text, commit })),
    queuedAt: time,
    origin: optional(originSchema),
  },
  updated: { uuid, tenant: text, project, change, queuedAt: time, origin: optional(originSchema) },
  dequeue: {
    uuid,
    tenant: text,
    change,
    pipeline: optional(text),
    item: optional(uuid),
    by: text,
    receivedAt: time,
    queuedAt: time,
    origin: originSchema,
  },
  promote: {
    uuid,
    tenant: text,
    change,
    pipeline: optional(text),
    by: text,
    receivedAt: time,
    queuedAt: time,
    origin: originSchema,
  },
  enqueue: {
    uuid,
    tenant: text,
    pipeline: text,
    wanted: wantedChange,
    by: text,
    queuedAt: time,
    management: managementSchema,
  },
});

const landed: Schema<Landed> = either(
  list(object<LandedBranch>({ project, branch: text, commit, tree: text })),
  words<'as-tested'>({ 'as-tested': 1 }),
);

const reportOutcome = tagged<ReportOutcome, 'kind'>('kind', {
  done: { landed },
  host: { trouble: hostTroubleSchema },
  'base-moved': { text },
  withdrawn: { text },
  withheld: { lands: flag, message: text },
  'not-merged': { text },
  failed: { text },
});

type EventOfKind<Kind extends PipelineEvent['kind']> = Extract<PipelineEvent, { readonly kind: Kind }>;

const ofBuild = { uuid, item: uuid, buildset: uuid, build: uuid, at: time };

const buildOrigin = object<NonNullable<EventOfKind<'build-result'>['of']>>({
  job: text,
  attempt: whole,
  requestedAt: time,
  cancelledAt: optional(time),
  trace: nullable(buildTraceSchema),
});

/** {@link PipelineEvent}, the record `pipeline-event`. */
export const pipelineEventSchema = tagged<PipelineEvent, 'kind'>('kind', {
  enqueue: {
    uuid,
    trigger: triggerEvent,
    tenantSpan: spanReferenceSchema,
    matched: text,
    request: optional(
      object<NonNullable<EventOfKind<'enqueue'>['request']>>({ by: text, management: managementSchema }),
    ),
  },
  'change-updated': {
    uuid,
    change,
    origin: optional(
      object<NonNullable<EventOfKind<'change-updated'>['origin']>>({ ...originFields, queuedAt: time }),
    ),
  },
  'merger-result': {
    uuid,
    item: uuid,
    buildset: uuid,
    request: uuid,
    at: time,
    outcome: mergerOutcomeSchema,
    losses: optional(list(workerLossSchema)),
  },
  'nodes-wanted': { ...ofBuild, labels: list(text) },
  'nodes-granted': { ...ofBuild, hosts: list(text), making: optional(mark) },
  'nodes-returned': { ...ofBuild, reason: text },
  'build-started': { ...ofBuild, worker: text, nodes: optional(list(madeNodeSchema)) },
  'build-failing': { ...ofBuild, early: optional(text) },
  'build-paused': { ...ofBuild, returned: optional(returnedSchema) },
  'build-result': {
    ...ofBuild,
    result: buildResultSchema,
    worker: nullable(text),
    execution: nullable(executionSchema),
    detail: optional(text),
    workerEnd: optional(workerEndSchema),
    lastSign: optional(time),
    trouble: optional(hostTroubleSchema),
    returned: optional(returnedSchema),
    of: optional(buildOrigin),
  },
  'report-result': {
    uuid,
    item: uuid,
    report: uuid,
    at: time,
    outcome: reportOutcome,
    parts: reportPartsSchema,
  },
  superseded: {
    uuid,
    change,
    by: text,
    internal: optional(
      object<NonNullable<EventOfKind<'superseded'>['internal']>>({
        queuedAt: time,
        causedBy: spanReferenceSchema,
        sampled: flag,
      }),
    ),
  },
  dequeue: {
    uuid,
    change,
    item: optional(uuid),
    by: text,
    management: optional(managementSchema),
  },
  halt: {
    uuid,
    queue: nullable(text),
    wanted: words<EventOfKind<'halt'>['wanted']>({ pause: 1, drain: 1, resume: 1 }),
    reason: text,
    by: text,
    management: managementSchema,
  },
  rerun: { uuid, item: uuid, change, by: text, management: managementSchema },
  promote: { uuid, changes: list(change), by: text, management: optional(managementSchema) },
});
