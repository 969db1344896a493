/** What brings a request to Gerrit and its answer back: HTTP (http-carrier.ts), or SSH where that is all there is (ssh/). */
import type { Secret } from '../../../src/lib/secret.ts';
import type { Json } from '../../../src/model/job.ts';
import type { GerritRequest } from './port.ts';
import type { GerritRaw } from './send.ts';

/** An answer as it came, or one that was put together of several: then it is no text that has to be parsed. */
export type GerritCarried =
  | GerritRaw
  | { readonly kind: 'served'; readonly status: number; readonly data: Json; readonly bytes: number };

/** Of one connection. */
export interface GerritCarrier {
  /** @throws only the reason of an aborted signal. */
  carry(
    request: GerritRequest,
    signal: AbortSignal,
  ): Promise<{
    readonly raw: GerritCarried;
    /** Of a 401: the same request may be sent again, and proves otherwise who we are. */
    readonly mayAskAgain: boolean;
  }>;
  /** Masked wherever Gerrit's words are shown. */
  readonly secrets: readonly Secret[];
  /** Ends the kept connections. */
  close(): void;
}

/** Of one request: milliseconds, bytes of the unpacked answer. */
export interface GerritBounds {
  readonly deadlinesMs: { readonly read: number; readonly write: number };
  readonly mostBytes: number;
}
