/** Shared by the loops of one scheduler. */
import type { Driver } from '../driver/driver.ts';
import type { Messenger } from '../driver/messenger.ts';
import type { BuildRequest } from '../model/build-request.ts';
import type { PipelineEvent, TenantEvent } from '../model/event.ts';
import type { InternalEvent } from '../model/internal-event.ts';
import type { MergerRequest } from '../model/merge.ts';
import type { ConnectionName, PipelineName, TenantName } from '../model/project.ts';
import type { EventQueue } from '../store/event-queue.ts';
import type { RequestQueue } from '../store/request-queue.ts';
import type { SteadyExecutors } from './care/steady-executors.ts';
import type { ChangeCache } from './changes/change-cache.ts';
import type { DependencyResolver } from './changes/resolve-dependencies.ts';
import type { SchedulerDeps } from './deps.ts';
import type { FairShare } from './fair-share.ts';
import type { NoticeRules } from './notices/notice-rules.ts';
import type { PauseSwitch } from './pause-switch.ts';
import type { ExpectedDurations } from './turn/expected-durations.ts';

/** Made once by scheduler.ts; loops get it whole or the part they need. */
export interface SchedulerShared {
  readonly deps: SchedulerDeps;
  readonly pauseSwitch: PauseSwitch;
  readonly share: FairShare;
  /** The copy of the change cache: one for all connections and pipelines of this process. */
  readonly changes: ChangeCache;
  readonly dependencies: DependencyResolver;
  readonly expected: ExpectedDurations;
  /** Rules of `[notify NAME]`. */
  readonly notices: NoticeRules;
  /** Connections that only take reports. */
  readonly messengers: ReadonlyMap<ConnectionName, Pick<Messenger, 'reporter'>>;
  readonly mergeRequests: RequestQueue<MergerRequest>;
  readonly buildRequests: RequestQueue<BuildRequest>;
  /** The registered executors. */
  readonly executors: SteadyExecutors;
  /** Each with the configuration language of its connection. */
  readonly driversOfConnections: ReadonlyMap<ConnectionName, Driver>;
  /** Logs a queue entry that cannot be read. */
  onDeadLetter(path: string, error: unknown): void;
  tenantQueue(tenant: TenantName): EventQueue<TenantEvent>;
  /** What was done to items of the tenant, for pipelines that start because of it. */
  internalQueue(tenant: TenantName): EventQueue<InternalEvent>;
  /** The same object for the same pipeline. */
  pipelineQueue(tenant: TenantName, pipeline: PipelineName): EventQueue<PipelineEvent>;
  /** A loop that ends with an error ends the scheduler. */
  track(loop: Promise<void>, name: string): void;
}
