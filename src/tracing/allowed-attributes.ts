/**
 * Which attributes a span may carry, by its kind. The one function that builds attributes (`attributesOf` in attribute-values.ts)
 * drops all others.
 *
 * Never in any table: job variables, commit messages, owners, e-mail addresses, file contents, free text of a job.
 */
import type { StepKind } from '../model/step.ts';
import { ATTRIBUTE, type AttributeKey } from './attributes.ts';

/** Kind of a span as far as its attributes go; all connection events (`GitEvent`, `GithubEvent`, ...) share one. */
export type SpanKind =
  | 'QueueItem'
  | 'Wait'
  | 'Takeover'
  | 'BuildSet'
  | 'Merge'
  | 'RepoState'
  | 'MergerJob'
  | 'Layout'
  | 'JobGraph'
  | 'FreezeJob'
  | 'Build'
  | 'RequirementWait'
  | 'SemaphoreWait'
  | 'RequestNodes'
  | 'ExecutorQueue'
  | 'JobExecution'
  | StepKind
  /** Made by a job and sent to the executor's relay; it keeps its own attributes as well. */
  | 'JobSpan'
  | 'Report'
  | 'HostReport'
  | 'HostMerge'
  | 'HostAnswer'
  | 'HostProgress'
  | 'ConnectionEvent'
  | 'EventReceive'
  | 'EventQueued'
  | 'EventProcess'
  | 'EventForward'
  | 'TenantEvent'
  | 'Reconfigure'
  | 'InternalEvent'
  | 'ManagementEvent'
  | 'Sweep'
  | 'CacheCleanup'
  | 'HostSweep'
  | 'Command'
  | 'CommandRequest';

/** The run every span of an item belongs to. */
const RUN: readonly AttributeKey[] = ['cicdPipeline', 'cicdRunId', 'cicdRunUrl'];
/** What every span may carry. */
const COMMON: readonly AttributeKey[] = [
  ...RUN,
  'tenant',
  'pipeline',
  'itemId',
  'eventId',
  'spanType',
  'clockAdjusted',
  'result',
  'errorType',
];
const VCS: readonly AttributeKey[] = [
  'change',
  'project',
  'vcsRepository',
  'vcsRepositoryUrl',
  'vcsProvider',
  'vcsChange',
  'vcsHeadName',
  'vcsHeadRevision',
  'vcsHeadType',
  'vcsBaseName',
  'vcsBaseRevision',
];
const WORKER: readonly AttributeKey[] = ['worker', 'cicdWorker', 'cicdWorkerId'];
/** The task every span of a build belongs to. */
const TASK: readonly AttributeKey[] = ['cicdTask', 'cicdTaskId', 'cicdTaskUrl'];
const CULPRIT: readonly AttributeKey[] = [
  'causeCode',
  'causeText',
  'culpritItem',
  'culpritChange',
  'culpritBuild',
  'culpritJob',
  'culpritResult',
  'linkCausedBy',
  'initiatorType',
  'initiatorName',
];
const BUILD: readonly AttributeKey[] = [...TASK, ...WORKER, 'buildsetId', 'buildId', 'job', 'attempt'];
const STEP: readonly AttributeKey[] = [...BUILD, 'spanSubject', 'project', 'connection'];
const TEST_SUMS: readonly AttributeKey[] = ['testCases', 'testsFailed', 'testsSkipped'];
const MERGER_STEP: readonly AttributeKey[] = [...WORKER, 'spanSubject', 'project', 'connection'];
const REQUEST: readonly AttributeKey[] = [
  ...VCS,
  ...WORKER,
  'buildsetId',
  'mergeOutcome',
  'conflictFiles',
  'conflictWith',
];
const SERVER: readonly AttributeKey[] = ['serverAddress', 'serverPort'];
const HOST_REPORT: readonly AttributeKey[] = [
  ...VCS,
  ...SERVER,
  'action',
  'reportOutcome',
  'reason',
  'connection',
  'attemptCount',
];
const EVENT: readonly AttributeKey[] = [
  ...VCS,
  'eventType',
  'connection',
  'eventOutcome',
  'reason',
  'linkFollows',
  'linkCausedBy',
];

const OWN: { readonly [kind in SpanKind]: readonly AttributeKey[] } = {
  QueueItem: [
    ...VCS,
    'queue',
    'position',
    'role',
    'eventType',
    'connection',
    'leaveCode',
    'leaveText',
    'initiatorType',
    'initiatorName',
    'linkCausedBy',
    'resets',
    'takeovers',
    'lostBuildSeconds',
    'dependsOn',
    'linkFollows',
    'linkDependsOn',
    'cicdAction',
    'cicdResult',
  ],
  Wait: ['waitState', 'waitSubject', 'takeoverFrom', 'takeoverTo'],
  Takeover: ['takeoverFrom', 'takeoverTo', 'takeoverHow'],
  BuildSet: [
    ...VCS,
    ...CULPRIT,
    'buildsetId',
    'buildsetNumber',
    'jobs',
    'supersededCode',
    'supersededText',
    'detail',
    'linkPrevious',
    'linkTestedBefore',
  ],
  Merge: REQUEST,
  RepoState: REQUEST,
  MergerJob: [...WORKER, 'buildsetId', 'project'],
  Layout: ['buildsetId', 'cached'],
  JobGraph: ['buildsetId', 'jobs'],
  FreezeJob: ['buildsetId', 'job'],
  Build: [
    ...VCS,
    ...BUILD,
    ...CULPRIT,
    'voting',
    'skippedBecause',
    'detail',
    'logUrl',
    'dependsOn',
    'linkRetryOf',
    'linkContinuesIn',
    'cicdTaskResult',
  ],
  RequirementWait: ['buildsetId', 'job', 'requires', 'providerChange'],
  SemaphoreWait: ['buildsetId', 'job', 'semaphores', 'semaphoreHolders'],
  RequestNodes: [...BUILD, 'priority', 'labels', 'nodeProvider', 'nodeHosts'],
  ExecutorQueue: [...BUILD, 'executorQueueOutcome', 'priority', 'labels', 'detail'],
  JobExecution: [...VCS, ...BUILD, 'cicdTaskResult', 'continuation', 'linkContinuesIn', 'linkContinuedFrom'],
  FetchRefs: [...MERGER_STEP, ...SERVER, 'refs'],
  MergeChanges: [...MERGER_STEP, 'changes', 'branch'],
  ReadConfig: [...MERGER_STEP, 'files', 'branches', 'cached'],
  BuildRepoCheck: [...STEP, 'cached'],
  BuildRepoAccess: STEP,
  BuildRepoUpdateLock: STEP,
  BuildRepoUpdate: [...STEP, ...SERVER, 'refs'],
  BuildCheckoutSize: [...STEP, 'files', 'bytes'],
  BuildCloneRepo: [...STEP, 'cached'],
  BuildMergeChanges: [...STEP, 'changes'],
  BuildSetRepoState: [...STEP, 'branch', 'commit'],
  BuildCheckout: [...STEP, 'branch', 'commit', 'cached'],
  JobSetup: STEP,
  Playbook: [...STEP, 'phase', 'playbookIndex', 'trusted', 'cleanup', 'earlyFailure', 'exitCode', 'dropped'],
  AnsiblePlay: STEP,
  AnsibleTask: [...STEP, 'ansibleHost', 'ansibleModule', 'ansibleChanged', 'ansibleOutcome'],
  ScriptStep: [...STEP, 'exitCode'],
  TestResults: [...STEP, 'files', 'testSuites', ...TEST_SUMS],
  TestSuite: [...STEP, 'testSuiteName', 'testSuiteStatus', ...TEST_SUMS],
  TestCase: [...STEP, 'testSuiteName', 'testCaseName', 'testCaseStatus'],
  Pause: STEP,
  Cleanup: STEP,
  JobSpan: [...BUILD, 'originalParent'],
  Report: [...VCS, 'action', 'reportOutcome'],
  HostReport: HOST_REPORT,
  HostMerge: HOST_REPORT,
  HostProgress: [...VCS, ...SERVER, 'reportOutcome', 'reason', 'connection', 'linkFollows'],
  HostAnswer: [
    ...VCS,
    ...SERVER,
    'reportOutcome',
    'reason',
    'connection',
    'attemptCount',
    'by',
    'linkFollows',
  ],
  ConnectionEvent: [
    ...EVENT,
    'eventAction',
    'foundBy',
    'eventAge',
    'installation',
    'delivery',
    'answeredDeliveries',
    'answeredCount',
    'tenants',
  ],
  EventReceive: ['connection', 'worker'],
  EventQueued: ['connection'],
  EventProcess: ['connection', 'attemptCount'],
  EventForward: ['connection', 'tenants'],
  HostQuery: [
    ...SERVER,
    'connection',
    'project',
    'change',
    'query',
    'refs',
    'changes',
    'cached',
    'cost',
    'remaining',
    'requestId',
    'httpMethod',
    'httpStatus',
    'httpResends',
  ],
  HostWait: ['connection', 'project', 'installation', 'reason', 'until', 'attemptCount'],
  TenantEvent: EVENT,
  Reconfigure: ['layoutVersion', 'reason', 'project', 'errors'],
  InternalEvent: EVENT,
  ManagementEvent: [...EVENT, 'command', 'by', 'detail', 'linkCaller'],
  Sweep: ['removedCount', 'settledCount', 'spanSubject', 'buildId', 'job', 'linkFollows'],
  CacheCleanup: ['removedCount', 'spanSubject'],
  HostSweep: [
    'connection',
    'sweptProjects',
    'sweptChanges',
    'missedCount',
    'redeliveredCount',
    'closedCount',
  ],
  Command: ['command', 'exitCode'],
  CommandRequest: ['httpMethod', 'httpStatus', 'urlPath', ...SERVER],
};

function namesFor(kind: SpanKind): ReadonlyMap<string, string> {
  return new Map([...COMMON, ...OWN[kind]].map(key => [key, ATTRIBUTE[key]]));
}

/** What a span of this kind may carry: key → name on the wire. */
export const ALLOWED: ReadonlyMap<SpanKind, ReadonlyMap<string, string>> = new Map(
  spanKinds().map(kind => [kind, namesFor(kind)]),
);

/** Facts that a span event of an item (`moved`, `reset`, ...) may carry → attribute. */
export const EVENT_FACTS: ReadonlyMap<string, string> = new Map([
  ...[
    'behind',
    'before',
    'position',
    'window',
    'from',
    'to',
    'code',
    'text',
    'reason',
    'by',
    'change',
    'job',
    'result',
    'project',
    'branch',
    'commit',
    'tree',
    'tested',
  ].map(fact => [fact, `gatehouse.${fact}`] as const),
  ['cause', ATTRIBUTE.causeCode],
  ['culprit', ATTRIBUTE.culpritChange],
  ['item', ATTRIBUTE.itemId],
  ['buildset', ATTRIBUTE.buildsetId],
  ['node', ATTRIBUTE.nodeName],
  ['machine', ATTRIBUTE.nodeMachine],
  ['number', ATTRIBUTE.buildsetNumber],
  ['build', ATTRIBUTE.buildId],
]);

/** The same of a span event that names a culprit: the item and the build are the culprit's. */
export const CULPRIT_FACTS: ReadonlyMap<string, string> = new Map([
  ...EVENT_FACTS,
  ['item', ATTRIBUTE.culpritItem],
  ['build', ATTRIBUTE.culpritBuild],
  ['job', ATTRIBUTE.culpritJob],
  ['result', ATTRIBUTE.culpritResult],
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
  ['index', 'playbookIndex'],
  ['trusted', 'trusted'],
  ['cleanup', 'cleanup'],
  ['earlyFailure', 'earlyFailure'],
  ['exitCode', 'exitCode'],
  ['exit_code', 'exitCode'],
  ['project', 'project'],
  ['connection', 'connection'],
  ['change', 'change'],
  ['query', 'query'],
  ['cost', 'cost'],
  ['remaining', 'remaining'],
  ['requestId', 'requestId'],
  ['until', 'until'],
  ['installation', 'installation'],
  ['method', 'httpMethod'],
  ['status', 'httpStatus'],
  ['resends', 'httpResends'],
  ['reason', 'reason'],
  ['tries', 'attemptCount'],
  ['dropped', 'dropped'],
  ['host', 'ansibleHost'],
  ['module', 'ansibleModule'],
  ['changed', 'ansibleChanged'],
  ['outcome', 'ansibleOutcome'],
  ['suites', 'testSuites'],
  ['cases', 'testCases'],
  ['failed', 'testsFailed'],
  ['skipped', 'testsSkipped'],
  ['suiteStatus', 'testSuiteStatus'],
  ['caseStatus', 'testCaseStatus'],
  ['suite', 'testSuiteName'],
]);

function spanKinds(): readonly SpanKind[] {
  const kinds: SpanKind[] = [];
  for (const kind in OWN) if (isSpanKind(kind)) kinds.push(kind);
  return kinds;
}

function isSpanKind(name: string): name is SpanKind {
  return Object.hasOwn(OWN, name);
}
