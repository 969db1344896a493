/**
 * How news of the host arrives: a webhook that the host calls, a listener that watches the host. Both only say that
 * something may be different; the source reads what.
 */
import type { ConnectionEvent } from '../model/event.ts';
import type { ProjectKey } from '../model/project.ts';
import type { DriverMemory } from './driver-memory.ts';

/** Watches the host for news; puts what it finds through `emit`, which returns after the event is durable. */
export interface Listener {
  listen(deps: {
    readonly emit: (event: NewConnectionEvent) => Promise<void>;
    readonly projects: () => ReadonlySet<ProjectKey>;
    readonly memory: DriverMemory;
    readonly signal: AbortSignal;
  }): Promise<void>;
}

export type NewConnectionEvent = Pick<ConnectionEvent, 'deliveryId' | 'type' | 'payload'>;

export type WebhookVerdict =
  | { readonly kind: 'accepted'; readonly event: NewConnectionEvent }
  /** Understood and of no interest: answered 202. */
  | { readonly kind: 'ignored'; readonly reason: string }
  | { readonly kind: 'refused'; readonly status: 400 | 401 | 413 | 415; readonly reason: string };

export interface WebhookIntake {
  /** Bytes of the largest body; more is refused before it is read. */
  readonly maxBytes: number;
  /** Accepted webhooks per second, ten times as many in a burst; past that the host is asked to come again later. */
  readonly ratePerSecond: number;
  /** Checks the signature over the raw bytes, then the shape; asks no host. */
  verify(
    headers: { readonly [name: string]: string | readonly string[] | undefined },
    body: Uint8Array,
  ): Promise<WebhookVerdict>;
}
