/** Attributes that a span must always carry, by its kind: the list check 21 holds every story's spans against. */
import type { SinkSpan } from '../fake/otlp-sink.ts';

/** Runs, and requests from outside. Spans named for a driver end in `Event`. */
export const SERVERS: ReadonlySet<string> = new Set(['QueueItem']);
/** Calls: of the command line to the service, and of the service to code hosts. */
export const CLIENTS: ReadonlySet<string> = new Set([
  'Command',
  'CommandRequest',
  'HostQuery',
  'FetchRefs',
  'BuildRepoUpdate',
  'HostReport',
  'HostMerge',
  'HostAnswer',
  'HostProgress',
]);
/** Work put into a queue, and taken from one. */
export const PRODUCERS: ReadonlySet<string> = new Set(['Merge', 'RepoState', 'ExecutorQueue', 'EventQueued']);
export const CONSUMERS: ReadonlySet<string> = new Set(['MergerJob', 'JobExecution', 'EventProcess']);

/** They name an item they did something to, and are no part of it. */
export const ABOUT_ITEMS: ReadonlySet<string> = new Set([
  'ManagementEvent',
  'InternalEvent',
  'Sweep',
  'HostProgress',
]);

/** Of every span that belongs to an item. */
export const ITEM_ATTRIBUTES = [
  'gatehouse.tenant',
  'gatehouse.pipeline',
  'gatehouse.event.id',
  'cicd.pipeline.name',
  'cicd.pipeline.run.id',
  'cicd.pipeline.run.url.full',
];

/** Of the change that is tested. */
const CHANGE = [
  'gatehouse.change',
  'gatehouse.project',
  'vcs.repository.name',
  'vcs.provider.name',
  'vcs.change.id',
  'vcs.ref.head.name',
  'vcs.ref.head.revision',
  'vcs.ref.head.type',
  'vcs.ref.base.name',
];
/** Of the task. */
const TASK = [
  'gatehouse.buildset.id',
  'gatehouse.build.id',
  'gatehouse.job',
  'gatehouse.attempt',
  'cicd.pipeline.task.name',
  'cicd.pipeline.task.run.id',
  'cicd.pipeline.task.run.url.full',
];
const WORKER = ['gatehouse.worker', 'cicd.worker.name', 'cicd.worker.id'];
const RESULT = 'gatehouse.result';

type Attributes = SinkSpan['attributes'];

type Demand = (attributes: Attributes) => readonly string[];

export const ATTRIBUTES_OF: ReadonlyMap<string, Demand> = new Map<string, Demand>([
  [
    'QueueItem',
    () => [
      ...CHANGE,
      RESULT,
      'gatehouse.queue',
      'gatehouse.event.type',
      'gatehouse.connection',
      'gatehouse.leave.code',
      'gatehouse.resets',
      'gatehouse.link.follows',
      'cicd.pipeline.action.name',
      'cicd.pipeline.result',
    ],
  ],
  [
    'BuildSet',
    attributes => [
      ...CHANGE,
      RESULT,
      'gatehouse.buildset.id',
      'gatehouse.buildset.number',
      ...(attributes['gatehouse.buildset.number'] === 1
        ? []
        : ['gatehouse.link.previous', 'gatehouse.cause.code']),
      ...(attributes[RESULT] === 'SUPERSEDED' ? ['gatehouse.superseded.code'] : []),
    ],
  ],
  [
    'Build',
    attributes => [
      ...CHANGE,
      ...TASK,
      RESULT,
      'gatehouse.voting',
      'cicd.pipeline.task.run.result',
      ...(isWorkedOn(attributes) ? WORKER : []),
      ...(attributes[RESULT] === 'CANCELED' ? ['gatehouse.cause.code'] : []),
      ...(attributes[RESULT] === 'SKIPPED' ? ['gatehouse.skipped_because'] : []),
      ...(attributes['gatehouse.attempt'] === 1 ? [] : ['gatehouse.link.retry_of']),
    ],
  ],
  [
    'RequestNodes',
    attributes => [
      ...TASK,
      RESULT,
      'gatehouse.labels',
      'gatehouse.nodes.provider',
      ...(attributes[RESULT] === 'SUCCESS' ? ['gatehouse.nodes.hosts'] : []),
    ],
  ],
  ['ExecutorQueue', () => [...TASK, 'gatehouse.executor_queue.outcome']],
  ['JobExecution', () => [...TASK, ...WORKER]],
  ...[...CLIENTS]
    .filter(kind => kind !== 'Command')
    .map((kind): [string, Demand] => [kind, () => ['server.address']]),
  ['Playbook', () => [...TASK, ...WORKER, RESULT, 'gatehouse.phase', 'gatehouse.playbook.index']],
]);

/** One that is stopped while it waits for an executor has none. */
function isWorkedOn(attributes: Attributes): boolean {
  return !['SKIPPED', 'CANCELED', 'NODE_FAILURE'].includes(String(attributes[RESULT]));
}
