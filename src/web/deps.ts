/**
 * Dependencies of the web, as narrow as possible. Nothing in this room decides: it shows, stores webhooks and forwards
 * operators' requests. `src/cmd` makes a {@link WebDeps} and calls `createWeb`.
 *
 * Functions that return no promise read memory and are called often.
 */

import type { Readable } from 'node:stream';
import type { NodesNow } from '../api/node-waits.ts';
import type { TenantSnapshot } from '../api/tenant-snapshot.ts';
import type { NewConnectionEvent, WebhookIntake } from '../driver/intake.ts';
import type { ExplainContext, Explanation } from '../explain/explain.ts';
import type { History } from '../history/history.ts';
import type { Clock, Nanoseconds } from '../lib/clock.ts';
import type { TraceId } from '../lib/ids.ts';
import type { ActCost } from '../model/act-cost.ts';
import type { ComponentState } from '../model/component.ts';
import type { ConnectionReport } from '../model/connection-health.ts';
import type { HaltMode } from '../model/halt.ts';
import type { HoldRequest } from '../model/hold-request.ts';
import type { FrozenJob } from '../model/job.ts';
import type { KeptFile, KeptFiles } from '../model/kept-files.ts';
import type { DescribedThing, LayoutDescription } from '../model/layout-description.ts';
import type { RequestedChange } from '../model/management-event.ts';
import type { NoticeBounds } from '../model/notice-bounds.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { ConnectionName, PipelineName, ProjectKey, TenantName } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { SpanRecord } from '../model/span.ts';
import type { StoredHold } from '../nodes/hold-requests.ts';
import type { SseSettings } from '../settings/settings.ts';
import type { RegisteredComponent } from '../store/component-view.ts';
import type { PublicKeys } from '../store/keystore/keystore.ts';
import type { HeldByPlaybook } from '../store/semaphore-slots.ts';
import type { Installation } from '../tracing/resource.ts';
import type { TraceUi } from '../tracing/ui-url.ts';
import type { Tokens } from './auth/caller.ts';
import type { CallerContext } from './auth/caller-context.ts';

/** A configured connection, as far as the web needs it: its names, and its driver's check of webhooks. */
export interface WebConnection {
  readonly name: ConnectionName;
  readonly driver: string;
  readonly canonicalHostname: string;
  /** Absent: the connection takes no webhooks. */
  readonly webhook?: WebhookIntake;
}

/** A piece of a build's log. */
export interface LogPiece {
  readonly bytes: Uint8Array;
  /** The log ends with `bytes`. */
  readonly complete: boolean;
}

/** Bytes of a build's log from `offset` on; while the build runs there may be more of them later. */
export interface LogQuestion {
  readonly build: string;
  /** The machine that ran it; null: unknown. */
  readonly worker: string | null;
  /** In bytes from the begin of the log. */
  readonly offset: number;
  /** Maximum number of bytes. */
  readonly limit: number;
}

/** An authorized request. It is stored as an event of the pipeline; the turn that takes it decides. */
export interface OperatorRequest {
  readonly tenant: TenantName;
  /** Name of the operator, for people. */
  readonly by: string;
  /** When the request came in. */
  readonly receivedAt: Nanoseconds;
  /** The operator's trace, if the caller is trusted; see auth/caller-context.ts. */
  readonly context: CallerContext | undefined;
}

/** A request that a change or ref enters a pipeline. */
export interface EnqueueRequest extends OperatorRequest {
  readonly pipeline: string;
  readonly wanted: RequestedChange;
}

/** A request to take an item out of its pipeline. */
export interface DequeueRequest extends OperatorRequest {
  readonly pipeline: string;
  readonly item: QueueItem;
}

/** A request that a pipeline, or one of its queues, is paused, drained or goes on. */
export interface HaltRequest extends OperatorRequest {
  readonly pipeline: string;
  /** Null: the whole pipeline. */
  readonly queue: string | null;
  readonly wanted: HaltMode | 'resume';
  readonly reason: string;
}

/** What is asked to be held. */
export type WantedHold = Pick<HoldRequest, 'project' | 'job' | 'filter' | 'reason' | 'maxCount'> & {
  /** Seconds; 0: until it is deleted; null: as the settings say. */
  readonly expiration: number | null;
};

/** A request that failed jobs of a live item run again. */
export interface RerunRequest extends OperatorRequest {
  readonly pipeline: string;
  readonly item: QueueItem;
}

/** A request to move items to the heads of their queues. */
export interface PromoteRequest extends OperatorRequest {
  readonly pipeline: Pipeline;
  /** In the order that they shall have. */
  readonly items: readonly QueueItem[];
}

/** An authorized question what a request would do. */
export type PlannedAct =
  | ({ readonly kind: 'enqueue' } & EnqueueRequest)
  | ({ readonly kind: 'dequeue' } & DequeueRequest)
  | ({ readonly kind: 'halt' } & HaltRequest)
  | ({ readonly kind: 'rerun' } & RerunRequest)
  | ({ readonly kind: 'promote' } & PromoteRequest);

/** Takes spans of other programs. */
export interface SpanIntake {
  /** Values of `service.name` of our own spans. */
  readonly ownServices: ReadonlySet<string>;
  /** Sampling decision for a trace that began in another program. */
  readonly isSampled: (trace: TraceId) => boolean;
  /** Resolves when the spans are durable. */
  readonly store: (spans: readonly SpanRecord[]) => Promise<void>;
}

/** One part of this process, for `/health/ready`: the answer is 503 unless all are ready. */
export interface ComponentHealth {
  readonly component: string;
  readonly ready: boolean;
  /** Why not, for people. */
  readonly reason?: string;
}

/** This process's contact with the store. */
export type StoreContact =
  | { readonly kind: 'connected' }
  /** Documents show the state at `since`. */
  | { readonly kind: 'away'; readonly since: Nanoseconds }
  /** There is no state to show yet. @property reason for people. */
  | { readonly kind: 'never'; readonly reason: string };

/** Outcome of a webhook; `failed`: it could not be stored, the host should send it again. */
export type WebhookOutcome = 'stored' | 'duplicate' | 'ignored' | 'refused' | 'failed';

interface WebLog {
  info(facts: object, text: string): void;
  warn(facts: object, text: string): void;
}

/** Which branch, as if a commit of it went through the pipeline. */
export interface BranchQuestion {
  readonly tenant: TenantName;
  readonly pipeline: string;
  readonly project: ProjectKey;
  readonly branch: string;
}

/** `unusable`: the configuration does not say what runs. `costly`: it takes more than a layout may. Texts are for people. */
export type FrozenBranch =
  | { readonly kind: 'frozen'; readonly jobs: readonly FrozenJob[] }
  | { readonly kind: 'absent'; readonly text: string; readonly place: string }
  | { readonly kind: 'unusable' | 'costly'; readonly text: string };

/** `costly`: the layout cannot be had now. The text is for people. */
export type DescribedLayout = LayoutDescription | { readonly kind: 'costly'; readonly text: string };

/** All that the web can do to the rest of the service. One object serves both listeners. */
export interface WebDeps {
  readonly clock: Clock;
  readonly log: WebLog;
  readonly version: string;
  /** Public URL without trailing slash; called after the port is known. */
  readonly root: () => string;
  readonly sse: SseSettings;
  /** The current `[tracing] ui_url`; null: tracing is off. */
  readonly traceUi: () => TraceUi | null;
  /** Empty until the store was read for the first time. */
  readonly tenants: () => readonly TenantName[];
  /** Undefined: there is no such tenant. */
  readonly snapshot: (tenant: TenantName) => TenantSnapshot | undefined;
  /** Semaphores that playbooks hold: the tenant's, and global ones, which builds of any tenant may hold. */
  readonly heldByPlaybooks: (tenant: TenantName) => Promise<readonly HeldByPlaybook[]>;
  /** Calls back after a tenant's snapshot changed. Ends with its disposal. */
  readonly onChange: (listener: (tenant: TenantName) => void) => Disposable;
  readonly history: History;
  /** Makes the keys where the project has none yet, which takes seconds. Absent: the installation has no keystore. */
  readonly publicKeys?: (project: ProjectKey) => Promise<PublicKeys | 'busy'>;
  /** Wanted items among those that left but are not in the history yet (their rows wait in the outbox). */
  readonly leavingItems?: (wanted: (item: QueueItem) => boolean) => Promise<readonly QueueItem[]>;
  /** All spans of an item, open ones included: `itemSpans` of `src/tracing/`. */
  readonly spansOf: (item: QueueItem) => readonly SpanRecord[];
  /** Resource of our own spans. */
  readonly installation: () => Installation;
  /** Where an item's time went: `explainItem` of `src/tracing/`. */
  readonly explain: (item: QueueItem, now: Nanoseconds, context: ExplainContext) => Explanation;
  readonly connections: () => readonly WebConnection[];
  /** State of a code host; undefined: its driver does not know, or no scheduler has reported yet. */
  readonly connectionReport: (connection: ConnectionName) => ConnectionReport | undefined;
  /** From when on pages notify of stuck heads and late landings. */
  readonly noticeBounds: (tenant: TenantName, pipeline: PipelineName) => NoticeBounds;
  /** Resolves after the event is durable. */
  readonly storeEvent: (
    connection: ConnectionName,
    event: NewConnectionEvent,
  ) => Promise<'stored' | 'duplicate'>;
  /** Seconds a log is kept after the end of its build; absent: without limit. */
  readonly keepLogs?: number | undefined;
  /** By the layout in force; matchers of files are passed over. */
  readonly freezeBranch: (question: BranchQuestion) => Promise<FrozenBranch>;
  /** By the layout in force. */
  readonly describe: (tenant: TenantName, thing: DescribedThing) => Promise<DescribedLayout>;
  /** Undefined: the build has no log, or its executor is unreachable. */
  readonly readLog: (question: LogQuestion) => Promise<LogPiece | undefined>;
  /** All of it, compressed by gzip. Undefined: it is not there as a whole, and {@link readLog} has what there is. */
  readonly openLog: (question: Pick<LogQuestion, 'build' | 'worker'>) => Promise<Readable | undefined>;
  /** Undefined: the job left nothing, it has not ended, or its executor is unreachable. */
  readonly logFiles: (question: Pick<LogQuestion, 'build' | 'worker'>) => Promise<KeptFiles | undefined>;
  /** Compressed by gzip. Undefined: likewise. */
  readonly openLogFile: (
    question: Pick<LogQuestion, 'build' | 'worker'> & Pick<KeptFile, 'sha256'>,
  ) => Promise<Readable | undefined>;
  /** Absent: the route does not exist. `no-such-change`: its host says so. */
  readonly enqueue?: (request: EnqueueRequest) => Promise<'stored' | 'no-such-change'>;
  /** Absent: the route does not exist. */
  readonly dequeue?: (request: DequeueRequest) => Promise<void>;
  /** Absent: the route does not exist. */
  readonly halt?: (request: HaltRequest) => Promise<void>;
  /** Absent: the route does not exist. */
  readonly rerun?: (request: RerunRequest) => Promise<void>;
  /** Absent: the route does not exist. False: items of the pipeline cannot be promoted. */
  readonly promote?: (request: PromoteRequest) => Promise<boolean>;
  /** What a request would do, by the pipeline as it is now. Absent: the routes do not exist. */
  readonly costOf?: (act: PlannedAct) => Promise<ActCost>;
  /** Undefined: tracing is off. */
  readonly spanIntake: () => SpanIntake | undefined;
  /** Accepted tokens. */
  readonly auth: Tokens;
  readonly health: () => readonly ComponentHealth[];
  /** @param accept of the request. */
  readonly metrics: (
    accept: string | undefined,
  ) => Promise<{ readonly contentType: string; readonly body: string }>;
  /** Called once for each answered webhook of a known connection. */
  readonly countWebhook: (connection: ConnectionName, outcome: WebhookOutcome) => void;
  readonly contact: () => StoreContact;
  /** All processes of the installation, by kind, the oldest first. */
  readonly components: () => readonly RegisteredComponent[];
  /** The hosts of jobs, and the builds that wait for them. */
  readonly nodes: () => Promise<NodesNow>;
  /** Takes a host out of service, or releases it where the reason is undefined. Absent: the route does not exist. */
  readonly holdNode?: (node: string, reason: string | undefined) => Promise<'done' | 'gone'>;
  /** Of a tenant, the oldest first. */
  readonly holds: (tenant: TenantName) => Promise<readonly StoredHold[]>;
  /** `too-many`: the tenant has as many as it may have. Absent: the route does not exist. */
  readonly hold?: (request: OperatorRequest, wanted: WantedHold) => Promise<'stored' | 'too-many'>;
  /** Ends it; what it held is cleaned. Absent: the route does not exist. */
  readonly deleteHold?: (request: OperatorRequest, id: string) => Promise<'deleted' | 'gone'>;
  /** Stores the requested state of a component; `gone`: there is no such component. Absent: the route does not exist. */
  readonly askComponent?: (id: string, wanted: ComponentState) => Promise<'asked' | 'gone'>;
}
