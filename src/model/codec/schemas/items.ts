/** Queue items and what else a pipeline stores. */
import type { HaltMode, PipelineHalt } from '../../halt.ts';
import type { ItemStateName } from '../../item-states.ts';
import type { ReportAction } from '../../pipeline.ts';
import type { ChangeQueue, PipelineCounters, TestedState } from '../../pipeline-state.ts';
import type { ItemEvent, QueueItem, ReportEnd, ReportRecord, TimelineEntry } from '../../queue-item.ts';
import type { ProvidedBuild, ProvidedByChange } from '../../requirement.ts';
import type { Holder, MoreTakeovers, Takeover } from '../../takeover.ts';
import {
  added,
  byName,
  change,
  fact,
  flag,
  json,
  list,
  mark,
  nonEmpty,
  nullable,
  object,
  optional,
  tagged,
  text,
  time,
  uuid,
  whole,
  words,
} from '../schema.ts';
import { artifactsSchema, buildSetSchema } from './buildsets.ts';
import {
  buildResultSchema,
  buildSetResultSchema,
  hostWaitSchema,
  leaveCodeSchema,
  removerSchema,
} from './causes.ts';
import { changeSchema } from './change.ts';
import { spanReferenceSchema, spansSchema, stepsSchema } from './spans.ts';

/** {@link ReportAction} */
export const reportActionSchema = words<ReportAction>({
  enqueue: 1,
  start: 1,
  success: 1,
  failure: 1,
  'merge-conflict': 1,
  'config-error': 1,
  'no-jobs': 1,
  dequeue: 1,
  disabled: 1,
});

const timelineEntry = object<TimelineEntry>({
  state: words<ItemStateName>({
    window: 1,
    merge: 1,
    configure: 1,
    'repo-state': 1,
    'hold-following': 1,
    executor: 1,
    nodes: 1,
    running: 1,
    'change-ahead': 1,
    'needed-change': 1,
    host: 1,
    semaphore: 1,
    requirement: 1,
    paused: 1,
    dependency: 1,
    reporting: 1,
  }),
  since: time,
  subject: optional(text),
  item: optional(uuid),
});

const itemEvent = object<ItemEvent>({
  at: time,
  name: words<ItemEvent['name']>({
    moved: 1,
    reset: 1,
    failing: 1,
    'cancel-requested': 1,
    'dequeue-requested': 1,
    promoted: 1,
    retest: 1,
    'landed-tree-differs': 1,
    'window-entered': 1,
  }),
  facts: byName(fact),
});

const phase = tagged<QueueItem['phase'], 'phase'>('phase', {
  queued: {},
  reporting: { report: uuid, action: reportActionSchema },
  left: {
    at: time,
    reason: leaveCodeSchema,
    result: buildSetResultSchema,
    remover: optional(removerSchema),
    window: optional(whole),
  },
});

const reportEnd = words<ReportEnd>({ done: 1, refused: 1, failed: 1, withdrawn: 1, withheld: 1 });

type ReportDone = NonNullable<ReportRecord['done']>;
type ReportPart = ReportDone['parts'][number];

/** The parts of a {@link ReportRecord}. */
export const reportPartsSchema = list(
  object<ReportPart>({
    kind: words<ReportPart['kind']>({ HostReport: 1, HostMerge: 1 }),
    connection: text,
    change: optional(change),
    startedAt: time,
    endedAt: time,
    tries: whole,
    outcome: reportEnd,
    reason: optional(
      words<NonNullable<ReportPart['reason']>>({
        'base-moved': 1,
        'not-merged': 1,
        failed: 1,
        host: 1,
        'project-removed': 1,
        'shadow-mode': 1,
      }),
    ),
    text: optional(text),
    steps: optional(stepsSchema),
    remembered: optional(object<NonNullable<ReportPart['remembered']>>({ change, memory: json })),
  }),
);

const report = object<ReportRecord>({
  uuid,
  action: reportActionSchema,
  requestedAt: time,
  done: nullable(
    object<ReportDone>({ at: time, outcome: reportEnd, message: optional(text), parts: reportPartsSchema }),
  ),
});

const takeovers = list(
  object<Takeover>({
    from: text,
    to: text,
    how: words<Takeover['how']>({ released: 1, lost: 1 }),
    since: time,
    at: time,
  }),
);

/** {@link QueueItem}, the record `queue-item`. */
export const queueItemSchema = object<QueueItem>({
  uuid,
  tenant: text,
  pipeline: text,
  queue: text,
  ownQueue: optional(text),
  changes: nonEmpty(changeSchema),
  role: words<QueueItem['role']>({ live: 1, dependency: 1 }),
  origin: object<QueueItem['origin']>({
    event: uuid,
    eventType: text,
    eventSpan: spanReferenceSchema,
    tenantSpan: spanReferenceSchema,
    receivedAt: time,
    connection: text,
    heldSpans: optional(spansSchema),
    byHand: optional(object<NonNullable<QueueItem['origin']['byHand']>>({ by: text, change })),
  }),
  sampled: flag,
  heldBack: optional(mark),
  kept: optional(mark),
  traceState: optional(text),
  enqueuedAt: time,
  position: added(nullable(whole), () => null),
  phase,
  hostWait: optional(hostWaitSchema),
  behind: nullable(uuid),
  dependsOn: list(change),
  neededItems: optional(list(uuid)),
  buildset: buildSetSchema,
  earlier: list(buildSetSchema),
  timeline: nonEmpty(timelineEntry),
  events: list(itemEvent),
  reports: list(report),
  takeovers: optional(takeovers),
  moreTakeovers: optional(object<MoreTakeovers>({ count: whole, duration: time, last: time })),
  startReported: flag,
});

/** {@link PipelineCounters}, the record `pipeline`. */
export const pipelineCountersSchema = object<PipelineCounters>({
  queues: list(object<ChangeQueue>({ key: text, name: text, window: whole, items: list(uuid) })),
  consecutiveFailures: whole,
  disabled: flag,
  countedUnder: added(nullable(whole), () => null),
  holder: optional(object<Holder>({ name: text, session: text, since: time, until: optional(time) })),
  takeovers: optional(takeovers),
  testedStates: optional(list(object<TestedState>({ state: text, at: time, item: uuid, buildset: uuid }))),
  halts: optional(
    list(
      object<PipelineHalt>({
        queue: nullable(text),
        mode: words<HaltMode>({ pause: 1, drain: 1 }),
        reason: text,
        by: text,
        since: time,
      }),
    ),
  ),
  provided: optional(
    list(
      object<ProvidedByChange>({
        change,
        patchset: text,
        builds: list(
          object<ProvidedBuild>({
            uuid,
            job: text,
            provides: list(text),
            result: buildResultSchema,
            artifacts: artifactsSchema,
          }),
        ),
      }),
    ),
  ),
});
