/** Why something happened: resets, cancels, departures, and trouble with the code host. */
import type { CancelCause, Culprit, LeaveCode, Remover, ResetCause } from '../../cause.ts';
import type { ConfigError } from '../../config-error.ts';
import type { HostTrouble, HostTroubleReason, HostWait, HostWork } from '../../host-trouble.ts';
import type { BuildResult, BuildSetResult } from '../../results.ts';
import {
  commit,
  mark,
  nullable,
  object,
  optional,
  project,
  spanId,
  text,
  time,
  traceId,
  uuid,
  whole,
  words,
} from '../schema.ts';

/** {@link BuildResult} */
export const buildResultSchema = words<BuildResult>({
  SUCCESS: 1,
  FAILURE: 1,
  TIMED_OUT: 1,
  POST_FAILURE: 1,
  RETRY: 1,
  RETRY_LIMIT: 1,
  SKIPPED: 1,
  CANCELED: 1,
  DISK_FULL: 1,
  NODE_FAILURE: 1,
  ERROR: 1,
});

/** {@link BuildSetResult} */
export const buildSetResultSchema = words<BuildSetResult>({
  SUCCESS: 1,
  FAILURE: 1,
  MERGE_CONFLICT: 1,
  MERGE_FAILURE: 1,
  CONFIG_ERROR: 1,
  NO_JOBS: 1,
  DEQUEUED: 1,
  ERROR: 1,
});

/** {@link LeaveCode} */
export const leaveCodeSchema = words<LeaveCode>({
  reported: 1,
  abandoned: 1,
  'new-patchset': 1,
  'requirement-lost': 1,
  'cannot-land': 1,
  'dependency-lost': 1,
  'cycle-changed': 1,
  superseded: 1,
  overtaken: 1,
  'merged-elsewhere': 1,
  'no-longer-needed': 1,
  'dequeued-by-hand': 1,
  'not-reported': 1,
  'project-removed': 1,
});

const culpritSchema = object<Culprit>({
  item: uuid,
  change: text,
  buildset: optional(uuid),
  build: optional(uuid),
  job: optional(text),
  result: optional(buildResultSchema),
  left: optional(leaveCodeSchema),
});

/** {@link Remover} */
export const removerSchema = object<Remover>({
  kind: words<Remover['kind']>({ item: 1, event: 1, operator: 1 }),
  span: nullable(object({ traceId, spanId })),
  name: nullable(text),
});

/** {@link ResetCause} */
export const resetCauseSchema = object<ResetCause>({
  code: words<ResetCause['code']>({
    'item-ahead-failed': 1,
    'item-ahead-conflict': 1,
    'item-ahead-misconfigured': 1,
    'item-ahead-not-merged': 1,
    'item-ahead-left': 1,
    'item-ahead-changed': 1,
    promoted: 1,
    rerun: 1,
    'queue-changed': 1,
    'needed-change-failing': 1,
    'base-moved': 1,
    'landed-tree-differs': 1,
  }),
  at: time,
  culprit: nullable(culpritSchema),
  promoter: optional(removerSchema),
});

/** {@link CancelCause} */
export const cancelCauseSchema = object<CancelCause>({
  code: words<CancelCause['code']>({
    reset: 1,
    'item-left': 1,
    'fail-fast': 1,
    'needed-change-failing': 1,
    'parent-retried': 1,
  }),
  at: time,
  culprit: nullable(culpritSchema),
  left: optional(leaveCodeSchema),
  remover: optional(removerSchema),
});

/** Of a {@link ConfigError}. */
const severitySchema = words<ConfigError['severity']>({ error: 1, warning: 1 });

/** {@link ConfigError} */
export const configErrorSchema = object<ConfigError>({
  severity: severitySchema,
  project: optional(project),
  branch: optional(text),
  file: text,
  line: whole,
  column: whole,
  code: text,
  text,
});

/** {@link HostTroubleReason} */
export const hostTroubleReasonSchema = words<HostTroubleReason>({
  unreachable: 1,
  limited: 1,
  denied: 1,
  timeout: 1,
  locked: 1,
  'bad-url': 1,
  'missing-ref': 1,
  'too-large': 1,
  aborted: 1,
  other: 1,
});

const troubleFields = {
  project,
  reason: hostTroubleReasonSchema,
  text,
  commit: optional(commit),
  notBefore: optional(time),
  unsettled: optional(mark),
};

/** {@link HostTrouble} */
export const hostTroubleSchema = object<HostTrouble>(troubleFields);

/** {@link HostWait} */
export const hostWaitSchema = object<HostWait>({
  ...troubleFields,
  doing: words<HostWork>({ merge: 1, build: 1, report: 1 }),
  since: time,
  tries: whole,
  retryAt: time,
});
