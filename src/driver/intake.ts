/**
 * Notifications of the host: a webhook that the host calls, or a listener that polls or subscribes. Both only say that
 * something may have changed; the source reads what did.
 */
import type { Uuid } from '../lib/ids.ts';
import type { Secret } from '../lib/secret.ts';
import type { ConnectionEvent } from '../model/event.ts';
import type { HostPass } from '../model/host-pass.ts';
import type { PipelineName, ProjectKey, TenantName } from '../model/project.ts';
import type { DriverMemory } from './driver-memory.ts';

/** Watches the host from one process. */
export interface Listener {
  /** Runs until aborted, then resolves; trouble of the host is logged and tried again. @throws on internal errors only. */
  listen(watch: Watch): Promise<void>;
}

/** What a listener works with, under the fence of its connection. */
export interface Watch {
  /** Stores an event; resolves when it is durable. @throws when the store does not take it. */
  readonly emit: (event: NewConnectionEvent) => Promise<void>;
  /** Those any tenant has on this connection now. */
  readonly projects: () => ReadonlySet<ProjectKey>;
  readonly memory: DriverMemory;
  readonly signal: AbortSignal;
  /** Whether the item is in the pipeline now: what a report of it left unfinished may be ended otherwise. @throws as the store does. */
  readonly isLive: (item: ItemPlace) => Promise<boolean>;
  /** Exports a pass as a trace of its own, if it did something. Never rejects: a lost trace costs nothing else. */
  readonly passed: (pass: HostPass) => Promise<void>;
}

/** Where an item is, or was. */
export interface ItemPlace {
  readonly tenant: TenantName;
  readonly pipeline: PipelineName;
  readonly item: Uuid;
}

/** What the intake knows of an event; the caller adds uuid and times. Of equal delivery ids one is processed. */
export type NewConnectionEvent = Pick<
  ConnectionEvent,
  'deliveryId' | 'type' | 'payload' | 'madeAt' | 'installation' | 'action' | 'foundBy'
>;

/** The answer to one webhook request. `reason` goes into the HTTP response and the log. */
export type WebhookVerdict =
  | { readonly kind: 'accepted'; readonly event: NewConnectionEvent }
  /** Authentic and of no interest: answered with 202. */
  | { readonly kind: 'ignored'; readonly reason: string }
  | { readonly kind: 'refused'; readonly status: 400 | 401 | 413 | 415; readonly reason: string };

/** Takes the requests of `POST /api/connection/<name>/payload`. */
export interface WebhookIntake {
  /** Largest body in bytes; a larger one is refused unread. */
  readonly maxBytes: number;
  /** Accepted requests per second, ten times as many in a burst; more are answered with 429 and `Retry-After`. */
  readonly ratePerSecond: number;
  /**
   * Checks the signature over the raw bytes, then the shape, without asking the host.
   *
   * @param queryToken `?token=` of the URL, for hosts that can show in no other way that a request is theirs; absent: there is none.
   */
  verify(
    headers: { readonly [name: string]: string | readonly string[] | undefined },
    body: Uint8Array,
    queryToken?: Secret,
  ): Promise<WebhookVerdict>;
}
