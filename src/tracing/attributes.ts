/**
 * Every attribute name of Gatehouse's own spans. `gatehouse.*` is ours; the others are OpenTelemetry's. A name here is not used until
 * allowed-attributes.ts allows it for a kind of span.
 */
import { CONVENTION } from './conventions.ts';

/** Short name → name on the wire. To rename a released one, add its former name to former-names.ts: stored spans still have it. */
export const ATTRIBUTE = {
  tenant: 'gatehouse.tenant',
  pipeline: 'gatehouse.pipeline',
  itemId: 'gatehouse.item.id',
  eventId: 'gatehouse.event.id',
  /** Kind of the span, e.g. `BuildSet`, in either naming mode. Not named a kind: OpenTelemetry's span kind is another thing. */
  spanType: 'gatehouse.span.type',
  /** What a step or a pass is about; of most it is in the span's name, too. */
  spanSubject: 'gatehouse.span.subject',
  /** Nanoseconds by which start and end were moved to lie inside the parent. */
  clockAdjusted: 'gatehouse.clock_adjusted_ns',
  buildsetId: 'gatehouse.buildset.id',
  buildId: 'gatehouse.build.id',
  job: 'gatehouse.job',
  /** Result in Zuul's words; `SUPERSEDED` for a buildset that a reset ended. */
  result: 'gatehouse.result',

  // queue item
  queue: 'gatehouse.queue',
  /** Place in its queue when it entered, 1 the head. */
  position: 'gatehouse.position',
  role: 'gatehouse.role',
  change: 'gatehouse.change',
  project: 'gatehouse.project',
  eventType: 'gatehouse.event.type',
  connection: 'gatehouse.connection',
  /** Why the item left its pipeline: a `LeaveCode`. */
  leaveCode: 'gatehouse.leave.code',
  leaveText: 'gatehouse.leave.text',
  /** What removed it before it was reported: `item`, `event` or `operator`. */
  initiatorType: 'gatehouse.leave.initiator.type',
  /** The superceding pipeline, the change that overtook it, or the operator. */
  initiatorName: 'gatehouse.leave.initiator.name',
  /** Who made a request. */
  by: 'gatehouse.by',
  resets: 'gatehouse.resets',
  lostBuildSeconds: 'gatehouse.lost_build_seconds',
  dependsOn: 'gatehouse.depends_on',

  // waits
  waitState: 'gatehouse.wait.state',
  waitSubject: 'gatehouse.wait.subject',

  // semaphores
  /** Those of the job. */
  semaphores: 'gatehouse.semaphores',
  /** Some builds of the tenant that held those without a free slot, as `<job> of <change>`. */
  semaphoreHolders: 'gatehouse.semaphore.holders',

  // provides and requires
  requires: 'gatehouse.requires',
  /** Changes ahead whose build is waited for. */
  providerChange: 'gatehouse.provider.change',

  // takeovers
  /** Processes that had the pipeline, as `<host>/<pid>`. */
  takeoverFrom: 'gatehouse.takeover.from',
  takeoverTo: 'gatehouse.takeover.to',
  /** `released` or `lost`. */
  takeoverHow: 'gatehouse.takeover.how',
  takeovers: 'gatehouse.takeovers',

  // buildsets, cancelled builds
  buildsetNumber: 'gatehouse.buildset.number',
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
  mergeOutcome: 'gatehouse.merge.outcome',
  /** What gives a build its nodes: `static`, or `kubernetes` where some were made for it. */
  nodeProvider: 'gatehouse.nodes.provider',
  /** The hosts that a build was given, in the order of its nodes. */
  nodeHosts: 'gatehouse.nodes.hosts',
  /** A node that was made for a build, as its provider calls it. */
  nodeName: 'gatehouse.node.name',
  /** The machine of the provider that it is on. */
  nodeMachine: 'gatehouse.node.machine',
  /** `taken`, `not-taken` or `handed-back`. */
  executorQueueOutcome: 'gatehouse.executor_queue.outcome',
  worker: 'gatehouse.worker',
  conflictFiles: 'gatehouse.conflict.files',
  /** Key of the change ahead that touched them. */
  conflictWith: 'gatehouse.conflict.with',
  cached: 'gatehouse.cached',
  attempt: 'gatehouse.attempt',
  /** Of a build that waits: `high`, `normal` or `low`. */
  priority: 'gatehouse.priority',
  /** Labels an executor must offer to take it; of the nodes that it wants. */
  labels: 'gatehouse.labels',
  logUrl: 'gatehouse.log_url',
  /** The reason for its result, in one line. */
  detail: 'gatehouse.detail',
  voting: 'gatehouse.voting',
  skippedBecause: 'gatehouse.skipped_because',
  /** On the root of a build's continuation trace. */
  continuation: 'gatehouse.continuation',
  phase: 'gatehouse.phase',
  playbookIndex: 'gatehouse.playbook.index',
  trusted: 'gatehouse.trusted',
  cleanup: 'gatehouse.cleanup',
  earlyFailure: 'gatehouse.early_failure',
  exitCode: 'gatehouse.exit_code',
  bytes: 'gatehouse.bytes',
  refs: 'gatehouse.refs',
  files: 'gatehouse.files',
  changes: 'gatehouse.changes',
  branches: 'gatehouse.branches',
  branch: 'gatehouse.branch',
  commit: 'gatehouse.commit',
  /** Of a host query: `refs`, `change`, `topic`, `fetch` or `commits`; of an API the host's name of the operation. */
  query: 'gatehouse.query',
  /** What a request took from the host's budget, in the host's points. */
  cost: 'gatehouse.cost',
  /** What is left of that budget. */
  remaining: 'gatehouse.remaining',
  /** The host's own id of the request, for its support. */
  requestId: 'gatehouse.request_id',
  /** When a wait for the host was to end, as the host named it, in RFC 3339. */
  until: 'gatehouse.until',
  /** Number of a playbook's steps beyond what its record holds. */
  dropped: 'gatehouse.dropped',

  // Ansible
  ansibleHost: 'gatehouse.ansible.host',
  ansibleModule: 'gatehouse.ansible.module',
  ansibleChanged: 'gatehouse.ansible.changed',
  ansibleOutcome: 'gatehouse.ansible.outcome',

  // results of tests
  testSuites: 'gatehouse.tests.suites',
  testCases: 'gatehouse.tests.cases',
  testsFailed: 'gatehouse.tests.failed',
  testsSkipped: 'gatehouse.tests.skipped',

  // spans of jobs
  /** The parent a job's span named, when no such span arrived. */
  originalParent: 'gatehouse.span.original_parent_id',

  // operators' requests and background passes
  command: 'gatehouse.command',
  removedCount: 'gatehouse.sweep.removed_count',
  settledCount: 'gatehouse.sweep.settled_count',
  sweptProjects: 'gatehouse.sweep.projects',
  sweptChanges: 'gatehouse.sweep.changes',
  /** Events that a sweep found before the host delivered them. */
  missedCount: 'gatehouse.sweep.missed_count',
  redeliveredCount: 'gatehouse.sweep.redelivered_count',
  closedCount: 'gatehouse.sweep.closed_count',
  errors: 'gatehouse.errors',

  // reports
  action: 'gatehouse.action',
  reportOutcome: 'gatehouse.report.outcome',
  attemptCount: 'gatehouse.attempt_count',

  // events
  /** Of what the event is named for, in the host's word: `labeled`. */
  eventAction: 'gatehouse.event.action',
  /** `webhook`: the host delivered it; otherwise the driver's word for how it was found (`sweep`, `stream`), or `listener`. */
  foundBy: 'gatehouse.event.found_by',
  eventOutcome: 'gatehouse.event.outcome',
  /** Seconds from its making at the host to its arrival here, where the host says when; by two clocks. */
  eventAge: 'gatehouse.event.age_seconds',
  /** Account by which the host grants access and counts requests: of GitHub the id of the App's installation. */
  installation: 'gatehouse.installation',
  delivery: 'gatehouse.delivery.id',
  /** Deliveries without a trace of their own: the poll of this one answered them, too. The list is cut, the count is not. */
  answeredDeliveries: 'gatehouse.delivery.answered',
  answeredCount: 'gatehouse.delivery.answered_count',
  reason: 'gatehouse.reason',
  tenants: 'gatehouse.tenants',
  layoutVersion: 'gatehouse.layout.version',

  // links: the other trace's id, or the span id when it is in the same trace (Jaeger shows no link attributes)
  linkFollows: 'gatehouse.link.follows',
  linkPrevious: 'gatehouse.link.previous',
  linkCausedBy: 'gatehouse.link.caused_by',
  linkRetryOf: 'gatehouse.link.retry_of',
  linkTestedBefore: 'gatehouse.link.tested_before',
  linkRelation: 'gatehouse.link.relation',
  linkDependsOn: 'gatehouse.link.depends_on',
  /** Trace id of where a long job's work is; and back. */
  linkContinuesIn: 'gatehouse.link.continues_in',
  linkContinuedFrom: 'gatehouse.link.continued_from',
  linkCaller: 'gatehouse.link.caller',

  ...CONVENTION,
} as const;

/** Short name of an attribute, the key of {@link ATTRIBUTE}. */
export type AttributeKey = keyof typeof ATTRIBUTE;
