/** Rows of the history, and what processes report of themselves. */
import type { ComponentRecord, ComponentState } from '../../component.ts';
import type { ConnectionReport, HostFault, WaitingLane } from '../../connection-health.ts';
import type { Decision, DecisionCode } from '../../decision.ts';
import type { HistoryRow } from '../../history.ts';
import type { SenderReport } from '../../sender-report.ts';
import type { TraceHour } from '../../trace-health.ts';
import type { Wall, WallName } from '../../wall.ts';
import {
  added,
  byName,
  change,
  flag,
  list,
  mark,
  nullable,
  number,
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
import { hostTroubleReasonSchema } from './causes.ts';
import { queueItemSchema } from './items.ts';
import { spansSchema } from './spans.ts';

const decision = object<Decision>({
  at: time,
  code: words<DecisionCode>({
    'trigger-matched': 1,
    'no-trigger-matched': 1,
    'requirement-not-met': 1,
    'cannot-land': 1,
    'already-enqueued': 1,
    'project-not-in-pipeline': 1,
    'no-such-change': 1,
    'change-not-open': 1,
    'other-connection': 1,
    'event-refused': 1,
    'too-many-dependencies': 1,
    'dependency-cycle': 1,
    'dependency-unresolved': 1,
    'dependency-not-ready': 1,
    'dependency-other-queue': 1,
    'dependency-abandoned': 1,
    'pipeline-full': 1,
    drained: 1,
    enqueued: 1,
    'enqueued-as-dependency': 1,
    'enqueued-behind': 1,
    requeued: 1,
    promoted: 1,
    rerun: 1,
    'moved-behind': 1,
    reset: 1,
    retry: 1,
    'early-failure': 1,
    pause: 1,
    'waits-for-host': 1,
    'host-recovered': 1,
    retest: 1,
    'window-changed': 1,
    'pipeline-disabled': 1,
    'result-ignored': 1,
    reported: 1,
    'not-reported': 1,
    'tested-before': 1,
    'landed-tree-differs': 1,
    left: 1,
  }),
  tenant: text,
  pipeline: nullable(text),
  project,
  change,
  changeText: text,
  item: nullable(uuid),
  event: nullable(uuid),
  text,
});

/** A list of {@link HistoryRow}, the record `history-rows`. */
export const historyRowsSchema: Schema<readonly HistoryRow[]> = list(
  tagged<HistoryRow, 'kind'>('kind', {
    item: { item: queueItemSchema },
    decisions: { decisions: list(decision) },
    trace: { spans: spansSchema },
  }),
);

const componentState = words<ComponentState>({ running: 1, paused: 1, stopping: 1 });

const wall = object<Wall>({
  name: words<WallName>({
    sandbox: 1,
    'system-calls': 1,
    memory: 1,
    processes: 1,
    cpu: 1,
    oom: 1,
    disk: 1,
    files: 1,
  }),
  state: words<Wall['state']>({ stands: 1, off: 1, missing: 1 }),
  text,
});

/** {@link ComponentRecord}, the record `component`. */
export const componentSchema = object<ComponentRecord>({
  host: text,
  pid: whole,
  version: text,
  state: componentState,
  startedAt: time,
  labels: list(text),
  address: nullable(text),
  trouble: optional(text),
  walls: optional(list(wall)),
  ansibleVersions: optional(list(text)),
  zone: optional(text),
  allowUnzoned: optional(mark),
  wanted: optional(componentState),
});

/** {@link SenderReport}, the record `sender-report`. */
export const senderReportSchema = object<SenderReport>({
  at: time,
  host: text,
  endpoint: text,
  protocol: text,
  state: words<SenderReport['state']>({ idle: 1, ok: 1, failing: 1 }),
  sent: whole,
  requests: added(nullable(whole), () => null),
  failedRequests: whole,
  partialSuccesses: whole,
  lost: byName(number),
  lastError: nullable(object<NonNullable<SenderReport['lastError']>>({ at: time, text })),
  lastSentAt: nullable(time),
  traces: optional(
    list(
      object<TraceHour>({
        hour: whole,
        judged: whole,
        unjudged: whole,
        orphans: whole,
        outside: whole,
        untiled: whole,
        untiledNs: whole,
        dangling: whole,
      }),
    ),
  ),
});

/** {@link ConnectionReport}, the record `connection-report`. */
export const connectionReportSchema = object<ConnectionReport>({
  state: words<ConnectionReport['state']>({ unknown: 1, serving: 1, limited: 1, failing: 1 }),
  text,
  limitedUntil: nullable(time),
  lastEventAt: nullable(time),
  missed: whole,
  faults: added(
    list(
      object<HostFault>({
        severity: words<HostFault['severity']>({ error: 1, warning: 1 }),
        project: nullable(text),
        text,
        onlyForCycles: flag,
      }),
    ),
    () => [],
  ),
  at: time,
  holder: text,
  waitingLanes: whole,
  waiting: list(
    object<WaitingLane>({
      lane: text,
      reason: hostTroubleReasonSchema,
      text,
      since: time,
      retryAt: time,
    }),
  ),
});
