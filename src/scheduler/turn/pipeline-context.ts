/**
 * The inputs of one pipeline's turns: three values in one object.
 *
 *     services   of the process, the same for all its pipelines
 *     place      of the pipeline, the same under every layout: its nodes in the store, its queue, clock and log
 *     rules      of the layout in force; made again whenever the tenant's layout changes
 *
 * Functions take the part that they need, as a `Pick`.
 */
import type { Driver } from '../../driver/driver.ts';
import type { ChangeQueueName } from '../../layout/change-queue.ts';
import type { IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { MetricsSink } from '../../metrics/registry.ts';
import type { BuildRequest } from '../../model/build-request.ts';
import type { Change, ChangeKey, ChangeRecord, ProposedChange } from '../../model/change.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { InternalEvent, InternalEventType } from '../../model/internal-event.ts';
import type { LandingMode } from '../../model/landed.ts';
import type { Tenant } from '../../model/layout.ts';
import type { MergerRequest, ProjectState } from '../../model/merge.ts';
import type { MergeMode } from '../../model/merge-mode.ts';
import type { DriverConfig, Pipeline } from '../../model/pipeline.ts';
import type { ConnectionName, PipelineName } from '../../model/project.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { SemaphoreRule } from '../../model/semaphore.ts';
import type { EventQueue } from '../../store/event-queue.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Operation, Store } from '../../store/port.ts';
import type { RequestQueue } from '../../store/request-queue.ts';
import type { KeepRules } from '../../tracing/keep.ts';
import type { TracePolicy } from '../../tracing/live-tracing.ts';
import type { SpanOptions } from '../../tracing/spans/span-options.ts';
import type { NodeOffers } from '../care/steady-executors.ts';
import type { ChangeCache } from '../changes/change-cache.ts';
import type { NoticeRules } from '../notices/notice-rules.ts';
import type { ProjectPlaces } from './build-projects.ts';
import type { ExpectedDurations } from './expected-durations.ts';
import type { JobGraphs } from './job-graphs.ts';
import type { LandedConfigurationDeps } from './note-landed.ts';
import type { PendingFreezes } from './pending-freezes.ts';
import type { PipelineClock } from './pipeline-clock.ts';
import type { PipelineForecasts } from './pipeline-forecasts.ts';
import type { PipelineSemaphores } from './pipeline-semaphores.ts';
import type { Rechecks } from './rechecks.ts';

/** From `SchedulerShared`, without what a turn has no use for. */
export interface PipelineServices {
  readonly ids: IdMaker;
  readonly store: Store;
  readonly paths: StorePaths;
  /** Public URL of the web service, without trailing slash. */
  readonly webRoot: string;
  readonly changes: Pick<ChangeCache, 'operations' | 'remember' | 'fresh' | 'conflict' | 'mark'>;
  readonly expected: ExpectedDurations;
  readonly mergeRequests: RequestQueue<MergerRequest>;
  readonly buildRequests: RequestQueue<BuildRequest>;
  readonly executors: NodeOffers;
  /** Undefined: metrics are off. */
  readonly metrics: MetricsSink | undefined;
  /** Undefined: tracing is off. */
  spans(): SpanOptions | undefined;
  /** Undefined: tracing is off. */
  tracePolicy(): TracePolicy | undefined;
  keep(): KeepRules;
  record(key: ChangeKey): ChangeRecord | undefined;
  /** Open changes known to depend on it. */
  dependentsOf(key: ChangeKey): readonly ChangeKey[];
  /** Open changes of the record's topic, itself among them; null: too many for one item. */
  sameTopic(record: ChangeRecord): readonly ChangeKey[] | null;
  driverOf(connection: ConnectionName): Driver | undefined;
  /** Message of the merge commit, by the change's driver. */
  mergeMessage(change: ProposedChange): string;
  /** As the reporter's driver lands changes; null: it does not. */
  landingMode(reporter: DriverConfig): LandingMode | null;
  /** Connections that only take reports. */
  readonly messengers: ReadonlySet<ConnectionName>;
  /** It lands changes, and several of a repository at once. */
  landsSeveral(reporter: DriverConfig): boolean;
  readonly notices: NoticeRules;
}

/** Paths in the store. */
export interface PipelineNodes
  extends Pick<ReturnType<StorePaths['pipeline']>, 'state' | 'item' | 'staged'>,
    Pick<StorePaths, 'spanOutbox' | 'historyOutbox' | 'landings'> {
  readonly reportOutbox: string;
  readonly messageOutbox: string;
}

/** Made once per pipeline; job graphs and clock keep their state from turn to turn. */
export interface PipelinePlace {
  readonly clock: PipelineClock;
  readonly log: Log;
  readonly nodes: PipelineNodes;
  readonly events: EventQueue<PipelineEvent>;
  readonly internalEvents: EventQueue<InternalEvent>;
  readonly graphs: JobGraphs;
  readonly semaphores: PipelineSemaphores;
  readonly forecasts: PipelineForecasts;
  readonly tenantsOf: LandedConfigurationDeps['tenantsOf'];
}

/** A turn decided by these is committed only while `layoutCheck` holds. */
export interface PipelineRules {
  readonly tenant: Tenant;
  readonly pipeline: Pipeline;
  /** It is not in the layout any more and only finishes the items it holds. */
  readonly retired: boolean;
  /** Fails, and the turn's commit with it, once the tenant has a newer layout than this context was made from. */
  readonly layoutCheck: Operation;
  readonly layoutVersion: number;
  readonly rechecks: Rechecks;
  readonly pending: PendingFreezes;
  readonly projects: ProjectPlaces;
  /** What the layout says of a name. */
  semaphoreOf(name: string): SemaphoreRule;
  /** Items of one group rank behind one another, see relative-priority.ts. Absent: requests are served by age. */
  readonly relativeGroup?: (item: QueueItem) => string;
  queueOf(change: Change): ChangeQueueName | null;
  /** How the change is merged: as its project's configuration says, or else as its host does it. */
  mergeMode(change: ProposedChange): MergeMode;
  /** Event queue of another pipeline of the tenant; undefined: there is no such pipeline. */
  eventsOf(pipeline: PipelineName): EventQueue<PipelineEvent> | undefined;
  /** Some pipeline of the tenant starts when this happens here. */
  isAwaited(type: InternalEventType): boolean;
  /** Heads that the jobs of a change needed: the next merge request asks for them in advance. */
  learn(change: Change, states: readonly ProjectState[]): void;
  /** Projects whose heads the jobs of this item will likely need. */
  likelyStates(item: QueueItem): readonly ProjectState[];
}

/** All three; made by tenant-context.ts. */
export interface PipelineContext extends PipelineServices, PipelinePlace, PipelineRules {}
