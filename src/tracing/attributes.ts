/**
 * Every attribute name that can leave Gatehouse, and which span may carry which.
 *
 * `gatehouse.*` is ours; `cicd.*`, `vcs.*` and `error.type` follow the OpenTelemetry conventions (release candidates, so the
 * strings stand here rather than in an imported package). Adding an attribute means adding it to {@link ALLOWED}: the one
 * function that builds attributes (`attributesOf` in attribute-values.ts) drops what is not in the table.
 *
 * Never in any table: job variables, commit messages, owners, e-mail addresses, file contents, free text of a job.
 */
import type { StepKind } from '../model/step.ts';

export const ATTRIBUTE = {
  tenant: 'gatehouse.tenant',
  pipeline: 'gatehouse.pipeline',
  itemId: 'gatehouse.item.id',
  eventId: 'gatehouse.event.id',
  /** Kind of the span, e.g. `BuildSet`, whatever the naming mode. */
  span: 'gatehouse.span',
  /** Nanoseconds by which start and end were moved to lie inside the parent. */
  clockAdjusted: 'gatehouse.clock_adjusted_ns',
  buildsetId: 'gatehouse.buildset.id',
  buildId: 'gatehouse.build.id',
  job: 'gatehouse.job',
  /** Result in Zuul's words; `SUPERSEDED` for a buildset that a reset ended. */
  result: 'gatehouse.result',
  errorType: 'error.type',

  // queue item
  queue: 'gatehouse.queue',
  role: 'gatehouse.role',
  change: 'gatehouse.change',
  project: 'gatehouse.project',
  eventType: 'gatehouse.event.type',
  connection: 'gatehouse.connection',
  left: 'gatehouse.left',
  leftText: 'gatehouse.left.text',
  resets: 'gatehouse.resets',
  lostBuildSeconds: 'gatehouse.lost_build_seconds',
  dependsOn: 'gatehouse.depends_on',

  // waits
  waitState: 'gatehouse.wait.state',
  waitSubject: 'gatehouse.wait.subject',

  // buildsets, cancelled builds
  number: 'gatehouse.number',
  causeCode: 'gatehouse.cause.code',
  causeText: 'gatehouse.cause.text',
  culpritItem: 'gatehouse.culprit.item.id',
  culpritChange: 'gatehouse.culprit.change',
  culpritBuild: 'gatehouse.culprit.build.id',
  culpritJob: 'gatehouse.culprit.job',
  culpritResult: 'gatehouse.culprit.result',
  supersededCode: 'gatehouse.superseded.code',
  supersededText: 'gatehouse.superseded.text',
  jobs: 'gatehouse.jobs',

  // work
  outcome: 'gatehouse.outcome',
  worker: 'gatehouse.worker',
  conflictFiles: 'gatehouse.conflict.files',
  cached: 'gatehouse.cached',
  attempt: 'gatehouse.attempt',
  voting: 'gatehouse.voting',
  skippedBecause: 'gatehouse.skipped_because',
  subject: 'gatehouse.subject',
  phase: 'gatehouse.phase',
  index: 'gatehouse.index',
  trusted: 'gatehouse.trusted',
  exitCode: 'gatehouse.exit_code',
  bytes: 'gatehouse.bytes',
  refs: 'gatehouse.refs',
  files: 'gatehouse.files',
  changes: 'gatehouse.changes',
  branches: 'gatehouse.branches',
  branch: 'gatehouse.branch',
  commit: 'gatehouse.commit',

  // reports
  action: 'gatehouse.action',
  tries: 'gatehouse.tries',

  // events
  delivery: 'gatehouse.delivery.id',
  reason: 'gatehouse.reason',
  tenants: 'gatehouse.tenants',
  layoutVersion: 'gatehouse.layout.version',

  // links: the other trace's id, or the span id when it is in the same trace (Jaeger shows no link attributes)
  linkFollows: 'gatehouse.link.follows',
  linkPrevious: 'gatehouse.link.previous',
  linkCausedBy: 'gatehouse.link.caused_by',
  linkRetryOf: 'gatehouse.link.retry_of',
  linkRelation: 'gatehouse.link.relation',

  // OpenTelemetry conventions
  cicdPipeline: 'cicd.pipeline.name',
  cicdRunId: 'cicd.pipeline.run.id',
  cicdRunUrl: 'cicd.pipeline.run.url.full',
  cicdResult: 'cicd.pipeline.result',
  cicdTask: 'cicd.pipeline.task.name',
  cicdTaskId: 'cicd.pipeline.task.run.id',
  cicdTaskUrl: 'cicd.pipeline.task.run.url.full',
  cicdTaskResult: 'cicd.pipeline.task.run.result',
  cicdWorker: 'cicd.worker.name',
  vcsRepository: 'vcs.repository.name',
  vcsProvider: 'vcs.provider.name',
  vcsChange: 'vcs.change.id',
  vcsHeadName: 'vcs.ref.head.name',
  vcsHeadRevision: 'vcs.ref.head.revision',
  vcsBaseName: 'vcs.ref.base.name',
} as const;

/** Short name of an attribute, the key of {@link ATTRIBUTE}. */
export type AttributeKey = keyof typeof ATTRIBUTE;

/** Kind of a span as far as its attributes go; all connection events (`GitEvent`, `GithubEvent`, ...) share one. */
export type SpanKind =
  | 'QueueItem'
  | 'Wait'
  | 'BuildSet'
  | 'Merge'
  | 'RepoState'
  | 'MergerJob'
  | 'Layout'
  | 'JobGraph'
  | 'FreezeJob'
  | 'Build'
  | 'ExecutorQueue'
  | 'JobExecution'
  | StepKind
  | 'Report'
  | 'HostReport'
  | 'HostMerge'
  | 'ConnectionEvent'
  | 'EventReceive'
  | 'EventQueued'
  | 'EventProcess'
  | 'EventForward'
  | 'TenantEvent'
  | 'Reconfigure';

/** What every span may carry. */
const COMMON: readonly AttributeKey[] = [
  'tenant',
  'pipeline',
  'itemId',
  'eventId',
  'span',
  'clockAdjusted',
  'result',
  'errorType',
];
const VCS: readonly AttributeKey[] = [
  'change',
  'project',
  'vcsRepository',
  'vcsProvider',
  'vcsChange',
  'vcsHeadName',
  'vcsHeadRevision',
  'vcsBaseName',
];
const CULPRIT: readonly AttributeKey[] = [
  'causeCode',
  'causeText',
  'culpritItem',
  'culpritChange',
  'culpritBuild',
  'culpritJob',
  'culpritResult',
  'linkCausedBy',
];
const BUILD: readonly AttributeKey[] = ['buildsetId', 'buildId', 'job', 'attempt'];
const STEP: readonly AttributeKey[] = [...BUILD, 'subject', 'worker', 'project'];
const REQUEST: readonly AttributeKey[] = ['buildsetId', 'worker', 'outcome', 'conflictFiles'];
const EVENT: readonly AttributeKey[] = [
  'eventType',
  'connection',
  'delivery',
  'project',
  'change',
  'outcome',
  'reason',
  'tenants',
  'linkFollows',
  'linkCausedBy',
];

const OWN: { readonly [kind in SpanKind]: readonly AttributeKey[] } = {
  QueueItem: [
    ...VCS,
    'queue',
    'role',
    'eventType',
    'connection',
    'left',
    'leftText',
    'resets',
    'lostBuildSeconds',
    'dependsOn',
    'linkFollows',
    'cicdPipeline',
    'cicdRunId',
    'cicdRunUrl',
    'cicdResult',
  ],
  Wait: ['waitState', 'waitSubject'],
  BuildSet: [
    ...VCS,
    ...CULPRIT,
    'buildsetId',
    'number',
    'jobs',
    'supersededCode',
    'supersededText',
    'linkPrevious',
  ],
  Merge: REQUEST,
  RepoState: REQUEST,
  MergerJob: ['buildsetId', 'worker'],
  Layout: ['buildsetId', 'cached'],
  JobGraph: ['buildsetId', 'cached', 'jobs'],
  FreezeJob: ['buildsetId', 'job'],
  Build: [
    ...VCS,
    ...BUILD,
    ...CULPRIT,
    'voting',
    'worker',
    'skippedBecause',
    'linkRetryOf',
    'cicdPipeline',
    'cicdRunId',
    'cicdTask',
    'cicdTaskId',
    'cicdTaskUrl',
    'cicdTaskResult',
    'cicdWorker',
  ],
  ExecutorQueue: [...BUILD, 'outcome'],
  JobExecution: [...BUILD, 'worker', 'cicdWorker', 'cicdTask'],
  FetchRefs: [...STEP, 'refs', 'bytes'],
  MergeChanges: [...STEP, 'changes', 'cached'],
  ReadConfig: [...STEP, 'files', 'branches', 'cached'],
  BuildRepoUpdate: [...STEP, 'refs', 'bytes', 'cached'],
  BuildCloneRepo: [...STEP, 'bytes', 'cached'],
  BuildCheckout: [...STEP, 'branch', 'commit', 'files', 'bytes', 'cached'],
  JobSetup: STEP,
  Playbook: [...STEP, 'phase', 'index', 'trusted', 'exitCode'],
  Cleanup: [...STEP, 'files', 'bytes'],
  Report: ['action', 'outcome'],
  HostReport: ['action', 'outcome', 'connection', 'tries'],
  HostMerge: ['action', 'outcome', 'connection', 'tries'],
  ConnectionEvent: EVENT,
  EventReceive: ['connection'],
  EventQueued: ['connection'],
  EventProcess: ['connection'],
  EventForward: ['connection', 'tenants'],
  TenantEvent: EVENT,
  Reconfigure: ['layoutVersion'],
};

function namesFor(kind: SpanKind): ReadonlyMap<string, string> {
  return new Map([...COMMON, ...OWN[kind]].map(key => [key, ATTRIBUTE[key]]));
}

/** What a span of this kind may carry: key → name on the wire. */
export const ALLOWED: ReadonlyMap<SpanKind, ReadonlyMap<string, string>> = new Map(
  spanKinds().map(kind => [kind, namesFor(kind)]),
);

/** Facts that may ride on a span event of an item (`moved`, `reset`, ...), as `gatehouse.<name>`. */
export const EVENT_FACTS: ReadonlySet<string> = new Set([
  'behind',
  'before',
  'position',
  'from',
  'to',
  'code',
  'cause',
  'culprit',
  'text',
  'reason',
  'by',
  'item',
  'change',
  'buildset',
  'build',
  'job',
  'number',
  'result',
]);

/** A step's facts (`Step.facts`) → attribute; others are dropped. */
export const STEP_FACTS: ReadonlyMap<string, AttributeKey> = new Map<string, AttributeKey>([
  ['bytes', 'bytes'],
  ['refs', 'refs'],
  ['files', 'files'],
  ['changes', 'changes'],
  ['branches', 'branches'],
  ['branch', 'branch'],
  ['commit', 'commit'],
  ['cached', 'cached'],
  ['phase', 'phase'],
  ['index', 'index'],
  ['trusted', 'trusted'],
  ['exitCode', 'exitCode'],
  ['exit_code', 'exitCode'],
  ['project', 'project'],
]);

function spanKinds(): readonly SpanKind[] {
  const kinds: SpanKind[] = [];
  for (const kind in OWN) if (isSpanKind(kind)) kinds.push(kind);
  return kinds;
}

function isSpanKind(name: string): name is SpanKind {
  return Object.hasOwn(OWN, name);
}
