/** Buildsets and their builds. */
import type { Build, BuildPause, BuildState, Execution, WorkerEnd } from '../../build.ts';
import type {
  BuildSet,
  BuildSetStage,
  FrozenGraph,
  JobDecision,
  MergerWork,
  StartHold,
  TestedBefore,
  TestedMerge,
  TurnWork,
} from '../../build-set.ts';
import type { MadeNode, NodeRequest } from '../../node-wait.ts';
import type { Precedence } from '../../pipeline.ts';
import type { RequirementWait } from '../../requirement.ts';
import type { Artifact, CommentRange, Returned, ReturnedComment } from '../../returned.ts';
import type { HolderOfOwnTenant, SemaphoreHold, SemaphoreHolder, SemaphoreWait } from '../../semaphore.ts';
import {
  byName,
  flag,
  json,
  list,
  mark,
  nonEmpty,
  nullable,
  object,
  optional,
  project,
  tagged,
  text,
  time,
  uuid,
  whole,
  words,
} from '../schema.ts';
import {
  buildResultSchema,
  buildSetResultSchema,
  cancelCauseSchema,
  configErrorSchema,
  resetCauseSchema,
} from './causes.ts';
import { jobNodeSchema } from './jobs.ts';
import {
  filesChangedSchema,
  headsSchema,
  mergeConflictSchema,
  mergedBranchSchema,
  workerLossSchema,
} from './merges.ts';
import { stepsSchema } from './spans.ts';

/** {@link Execution} */
export const executionSchema = object<Execution>({
  startedAt: time,
  endedAt: time,
  steps: stepsSchema,
  continuedAt: optional(time),
});

/** {@link WorkerEnd} */
export const workerEndSchema = words<WorkerEnd>({ stopped: 1, outage: 1, lost: 1 });
/** {@link Precedence} */
export const precedenceSchema = words<Precedence>({ high: 1, normal: 1, low: 1 });

/** {@link Artifact}s */
export const artifactsSchema = list(
  object<Artifact>({ name: text, url: text, metadata: optional(byName(json)) }),
);

/** {@link CommentRange} */
export const commentRangeSchema = object<CommentRange>({
  startLine: whole,
  startCharacter: whole,
  endLine: whole,
  endCharacter: whole,
});

/** {@link ReturnedComment}'s level */
export const commentLevelSchema = words<ReturnedComment['level']>({ info: 1, warning: 1, error: 1 });

const commentSchema = object<ReturnedComment>({
  file: text,
  line: whole,
  level: commentLevelSchema,
  message: text,
  range: optional(commentRangeSchema),
});

/** {@link Returned} */
export const returnedSchema = object<Returned>({
  logUrl: optional(text),
  artifacts: optional(artifactsSchema),
  data: optional(byName(json)),
  sealed: optional(text),
  childJobs: optional(list(text)),
  fileComments: optional(list(commentSchema)),
  warnings: optional(list(text)),
});

const pauseSchema = object<BuildPause>({
  since: time,
  until: nullable(time),
  returned: optional(returnedSchema),
});

const buildState = tagged<BuildState, 'state'>('state', {
  requested: {},
  started: {
    at: time,
    worker: text,
    failingSince: optional(time),
    earlyFailure: optional(text),
    pause: optional(pauseSchema),
  },
  completed: {
    startedAt: nullable(time),
    at: time,
    result: buildResultSchema,
    worker: nullable(text),
    execution: nullable(executionSchema),
    detail: optional(text),
    returned: optional(returnedSchema),
    workerEnd: optional(workerEndSchema),
    hostTrouble: optional(mark),
    workedUntil: optional(time),
  },
  cancelled: {
    startedAt: nullable(time),
    at: time,
    worker: nullable(text),
    cause: cancelCauseSchema,
    execution: nullable(executionSchema),
    workedUntil: optional(time),
  },
  skipped: { at: time, because: text, filtered: optional(mark) },
});

const holdSchema = object<SemaphoreHold>({
  name: text,
  scope: words<SemaphoreHold['scope']>({ tenant: 1, global: 1 }),
  slot: whole,
});

/** {@link MadeNode}, also in events. */
export const madeNodeSchema = object<MadeNode>({
  name: text,
  createdAt: time,
  scheduledAt: time,
  readyAt: time,
  machine: text,
});

type NodeWait = NodeRequest['waits'][number];

const nodeWait = object<NodeWait>({
  since: time,
  granted: nullable(
    object<NonNullable<NodeWait['granted']>>({ at: time, hosts: list(text), making: optional(mark) }),
  ),
  made: optional(object<NonNullable<NodeWait['made']>>({ at: time, nodes: list(madeNodeSchema) })),
  returned: optional(object<NonNullable<NodeWait['returned']>>({ at: time, reason: text })),
});
const nodeRequest = object<NodeRequest>({ labels: list(text), waits: nonEmpty(nodeWait) });

const buildSchema = object<Build>({
  uuid,
  job: text,
  attempt: whole,
  voting: flag,
  requestedAt: time,
  priority: optional(precedenceSchema),
  ownTrace: optional(mark),
  semaphores: optional(list(holdSchema)),
  outdatedBy: optional(text),
  passedIn: optional(uuid),
  nodes: optional(nodeRequest),
  state: buildState,
});

const tested = object<TestedMerge>({
  branches: list(mergedBranchSchema),
  heads: headsSchema,
  landed: optional(headsSchema),
});
const graph = object<FrozenGraph>({ blob: text, jobs: list(jobNodeSchema) });

const stage = tagged<BuildSetStage, 'state'>('state', {
  new: {},
  merging: { request: uuid, ahead: optional(list(uuid)), leftOut: optional(list(uuid)) },
  merged: { tested },
  'repo-state': { tested, graph, request: uuid },
  running: { tested, graph },
  complete: {
    at: time,
    result: buildSetResultSchema,
    tested: nullable(tested),
    graph: nullable(graph),
    testedBefore: optional(object<TestedBefore>({ item: uuid, buildset: uuid })),
  },
  superseded: { at: time, cause: resetCauseSchema, graph: nullable(graph) },
});

const mergerWork = object<MergerWork>({
  request: uuid,
  kind: words<MergerWork['kind']>({ merge: 1, 'repo-state': 1 }),
  requestedAt: time,
  done: nullable(
    object<NonNullable<MergerWork['done']>>({
      at: time,
      outcome: words<NonNullable<MergerWork['done']>['outcome']>({
        merged: 1,
        conflict: 1,
        'repo-state': 1,
        failed: 1,
        withdrawn: 1,
      }),
      worker: nullable(text),
      steps: stepsSchema,
      text: optional(text),
      losses: optional(list(workerLossSchema)),
    }),
  ),
});

const turnWork = object<TurnWork>({
  kind: words<TurnWork['kind']>({ layout: 1, freeze: 1 }),
  startedAt: time,
  endedAt: time,
  cached: flag,
  jobs: list(object<TurnWork['jobs'][number]>({ name: text, startedAt: time, endedAt: time })),
});

const semaphoreWait = object<SemaphoreWait>({
  uuid,
  job: text,
  since: time,
  semaphores: list(text),
  heldBy: list(object<HolderOfOwnTenant>({ item: uuid, job: text, change: text })),
  ended: nullable(
    object<NonNullable<SemaphoreWait['ended']>>({
      at: time,
      outcome: words<NonNullable<SemaphoreWait['ended']>['outcome']>({ taken: 1, 'given-up': 1 }),
    }),
  ),
});

const requirementWait = object<RequirementWait>({
  uuid,
  job: text,
  since: time,
  requires: list(text),
  item: uuid,
  change: text,
  ended: nullable(
    object<NonNullable<RequirementWait['ended']>>({
      at: time,
      outcome: words<NonNullable<RequirementWait['ended']>['outcome']>({ met: 1, 'given-up': 1 }),
    }),
  ),
});

/** {@link SemaphoreHolder}, the record `semaphore-holder`. */
export const semaphoreHolderSchema = object<SemaphoreHolder>({
  tenant: text,
  pipeline: text,
  item: uuid,
  buildset: uuid,
  build: uuid,
  job: text,
  change: text,
  since: time,
  playbook: optional(text),
});

/** {@link BuildSet} */
export const buildSetSchema = object<BuildSet>({
  uuid,
  number: whole,
  createdAt: time,
  cause: nullable(resetCauseSchema),
  stage,
  stackedOn: optional(nullable(uuid)),
  mergerWork: list(mergerWork),
  turnWork: list(turnWork),
  conflict: nullable(mergeConflictSchema),
  configErrors: list(configErrorSchema),
  filesChanged: filesChangedSchema,
  verdicts: optional(list(object<JobDecision>({ job: text, runs: flag, because: text }))),
  startHold: optional(
    tagged<StartHold, 'on'>('on', {
      window: {},
      'hold-following': { item: text },
      host: { project },
      paused: { reason: text },
    }),
  ),
  semaphoreWaits: optional(list(semaphoreWait)),
  requirementWaits: optional(list(requirementWait)),
  builds: list(buildSchema),
});
