/**
 * What the web needs of the rest, as narrow as it can be. Nothing in this room decides: it shows, it stores what hosts
 * send, and it hands an operator's wish on. `src/cmd` makes one of these and calls `createWeb`.
 *
 * The functions without a promise are answered from memory and are called often.
 */

import type { TenantSnapshot } from '../api/tenant-snapshot.ts';
import type { NewConnectionEvent, WebhookIntake } from '../driver/intake.ts';
import type { ExplainContext, Explanation } from '../explain/explain.ts';
import type { History } from '../history/history.ts';
import type { Clock, Nanoseconds } from '../lib/clock.ts';
import type { TraceId } from '../lib/ids.ts';
import type { ComponentState } from '../model/component.ts';
import type { ConnectionReport } from '../model/connection-health.ts';
import type { ConnectionName, TenantName } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { SpanRecord } from '../model/span.ts';
import type { SseSettings } from '../settings/settings.ts';
import type { RegisteredComponent } from '../store/component-view.ts';
import type { Installation } from '../tracing/resource.ts';
import type { TraceUi } from '../tracing/ui-url.ts';
import type { Tokens } from './auth/caller.ts';
import type { CallerContext } from './auth/caller-context.ts';

export interface WebConnection {
  readonly name: ConnectionName;
  readonly driver: string;
  readonly canonicalHostname: string;
  /** Absent: it takes no webhooks. */
  readonly webhook?: WebhookIntake;
}

/** A piece of a build's log. */
interface LogPiece {
  readonly bytes: Uint8Array;
  /** Nothing will be added behind `bytes`. */
  readonly complete: boolean;
}

export interface LogQuestion {
  readonly build: string;
  /** The machine that ran it; null: not known. */
  readonly worker: string | null;
  readonly offset: number;
  /** Most bytes. */
  readonly limit: number;
}

export interface DequeueRequest {
  readonly tenant: TenantName;
  readonly pipeline: string;
  readonly item: QueueItem;
  /** Who asks, for people. */
  readonly by: string;
  /** When the request came in. */
  readonly receivedAt: Nanoseconds;
  /** The trace of who asks, where that may be believed. */
  readonly context: CallerContext | undefined;
}

/** Where spans of others go. */
export interface SpanIntake {
  /** What `service.name` of our own spans may be. */
  readonly ownServices: ReadonlySet<string>;
  /** Whether a trace that began at somebody else's is kept. */
  readonly isSampled: (trace: TraceId) => boolean;
  /** Resolves when they are durable. */
  readonly store: (spans: readonly SpanRecord[]) => Promise<void>;
}

export interface ComponentHealth {
  readonly component: string;
  readonly ready: boolean;
  /** Why not, for people. */
  readonly reason?: string;
}

/** How this process stands to the store. */
export type StoreContact =
  | { readonly kind: 'connected' }
  /** What is shown is how it was then. */
  | { readonly kind: 'away'; readonly since: Nanoseconds }
  /** Nothing can be shown yet. @property reason for people. */
  | { readonly kind: 'never'; readonly reason: string };

/** What became of a webhook; `failed`: it could not be stored, the host should send it again. */
export type WebhookOutcome = 'stored' | 'duplicate' | 'ignored' | 'refused' | 'failed';

interface WebLog {
  info(facts: object, text: string): void;
  warn(facts: object, text: string): void;
}

export interface WebDeps {
  readonly clock: Clock;
  readonly log: WebLog;
  readonly version: string;
  /** Public URL without trailing slash; asked after the port is known. */
  readonly root: () => string;
  readonly sse: SseSettings;
  /** `[tracing] ui_url` as it is now; null: tracing is off. */
  readonly traceUi: () => TraceUi | null;
  readonly tenants: () => readonly TenantName[];
  /** Undefined: there is no such tenant. */
  readonly snapshot: (tenant: TenantName) => TenantSnapshot | undefined;
  /** Calls back after anything of a tenant's snapshot changed. Returns how to stop. */
  readonly onChange: (listener: (tenant: TenantName) => void) => () => void;
  readonly history: History;
  /** Of the items that left and are not in the history yet (their rows wait in the outbox): those that are wanted. */
  readonly leavingItems?: (wanted: (item: QueueItem) => boolean) => Promise<readonly QueueItem[]>;
  /** All spans of an item, open ones included: `itemSpans` of `src/tracing/`. */
  readonly spansOf: (item: QueueItem) => readonly SpanRecord[];
  /** Whose spans they are. */
  readonly installation: () => Installation;
  /** Where an item's time went: `explainItem` of `src/tracing/`. */
  readonly explain: (item: QueueItem, now: Nanoseconds, context: ExplainContext) => Explanation;
  readonly connections: () => readonly WebConnection[];
  /** How its code host serves; undefined: its driver does not know, or no scheduler has reported yet. */
  readonly connectionReport: (connection: ConnectionName) => ConnectionReport | undefined;
  /** Resolves after the event is durable. */
  readonly storeEvent: (
    connection: ConnectionName,
    event: NewConnectionEvent,
  ) => Promise<'stored' | 'duplicate'>;
  /** Seconds after its build ended that a log is kept; absent: for ever. */
  readonly keepLogs?: number | undefined;
  /** Undefined: nothing was ever written for that build, or who has it cannot be asked. */
  readonly readLog: (question: LogQuestion) => Promise<LogPiece | undefined>;
  /** Absent: the route does not exist. */
  readonly dequeue?: (request: DequeueRequest) => Promise<void>;
  /** Undefined: tracing is off. */
  readonly spanIntake: () => SpanIntake | undefined;
  /** Whose tokens count. */
  readonly auth: Tokens;
  readonly health: () => readonly ComponentHealth[];
  /** @param accept of the request. */
  readonly metrics: (
    accept: string | undefined,
  ) => Promise<{ readonly contentType: string; readonly body: string }>;
  readonly countWebhook: (connection: ConnectionName, outcome: WebhookOutcome) => void;
  readonly contact: () => StoreContact;
  /** All processes of the installation, by kind, the oldest first. */
  readonly components: () => readonly RegisteredComponent[];
  /** Writes down what an operator wants of one; `gone`: there is no such component. Absent: the route does not exist. */
  readonly askComponent?: (id: string, wanted: ComponentState) => Promise<'asked' | 'gone'>;
}
