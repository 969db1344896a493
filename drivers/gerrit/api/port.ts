/**
 * Gerrit's REST API as the rest of the driver sees it: one call, one answer that says what happens next.
 *
 * Behind it are credentials, deadlines, bounds and steps for the trace. Only reads are repeated there: a write whose answer was lost
 * comes back as `lost`, and the caller looks before it writes again.
 */
import type { HostLater } from '../../../src/driver/host-later.ts';
import type { Json } from '../../../src/model/job.ts';
import type { Step } from '../../../src/model/step.ts';

/** For whom a request is made. */
export interface GerritCall {
  /** For health, metrics and steps; empty: none. */
  readonly project: string;
  readonly signal: AbortSignal;
  /** Asked directly before a write is sent; false: the call throws `NotHolder`. Absent: always true. */
  readonly mayAct?: () => boolean;
  /** Gets a `HostQuery` step for each request sent, and a `HostWait` step for each wait. */
  readonly steps?: (step: Step) => void;
}

/** What Gerrit said. `text` is for people, without secrets, at most 1 000 characters: Gerrit's own plain text, which may have lines. */
export type GerritAnswer<T> =
  | { readonly kind: 'ok'; readonly status: number; readonly data: T }
  /** A 4xx that judges the request: not there, not allowed, invalid, in conflict; {@link isTooLarge}. Nothing has changed. */
  | { readonly kind: 'refused'; readonly status: number; readonly text: string }
  /** An outage, a limit, missing access (401, 403 of the account as a whole), an answer that is none of Gerrit's. Nothing has changed. */
  | { readonly kind: 'later'; readonly later: HostLater }
  /** A write was sent and its answer did not come, or was a 5xx: it may have happened. */
  | { readonly kind: 'lost'; readonly later: HostLater };

/** One request. */
export interface GerritRequest {
  /** Names the span and the metric, e.g. `changes/detail`. */
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the root, without `/a`: `changes/12/detail?o=LABELS`. Parts of it are encoded by the caller. */
  readonly path: string;
  /** Sent as JSON; absent: no body. */
  readonly body?: Json;
}

/** Never throws but `NotHolder` and the signal's reason. */
export interface GerritApi {
  /** The parsed JSON without its `)]}'` prefix; null: the answer had no body. */
  ask(request: GerritRequest, call: GerritCall): Promise<GerritAnswer<Json>>;
}

/** Status of a read whose answer is longer than this driver takes: asking for the same again is of no use. */
export const TOO_LARGE = 413;

/** Fewer things, or less of them, may be asked for. */
export function isTooLarge(answer: GerritAnswer<unknown>): boolean {
  return answer.kind === 'refused' && answer.status === TOO_LARGE;
}
