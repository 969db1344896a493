/**
 * How long a session may be assumed to be alive, by our own clock alone.
 *
 * A server ends a session when it has received nothing from it for the session timeout T. It heard from us at the earliest
 * when we *sent* the last request that has been answered. So, counted from there:
 *
 *     0 ────────────── T/2 ────────────── T ──────▶ since the last proof was sent
 *        held             doubtful           over
 *
 * Held: effects outside the store may be done under a lock. Doubtful: no longer, with T/2 to spare before another process can
 * take it. Over: the servers have ended the session, or will; it never comes back, even if they would accept us again. No
 * message is needed: a process that was stopped for a minute knows when it asks, before any timer ran.
 *
 * Proofs are only answers that come from the leader of a quorum (writes, sync, the handshake): a follower that lost its leader
 * goes on answering reads and pings for a while, when the leader is counting already.
 */

/** What may be done under the session's locks, see above. */
export type Standing = 'held' | 'doubtful' | 'over';

/** Proofs are requested so often that one may be late by a quarter of the timeout before the lease is in doubt. */
const HEARTBEATS_PER_TIMEOUT = 6;

/** All times are monotonic milliseconds of one clock. */
export class Lease {
  #timeoutMs: number;
  #provedAt: number;

  /** @param provedAt when the request was sent that was answered with `timeoutMs`, in monotonic milliseconds. */
  constructor(timeoutMs: number, provedAt: number) {
    this.#timeoutMs = timeoutMs;
    this.#provedAt = provedAt;
  }

  /** Granted by the server: milliseconds. */
  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  /** A new connection: the server may grant another timeout than before. */
  renew(timeoutMs: number, sentAt: number): void {
    this.#timeoutMs = timeoutMs;
    this.prove(sentAt);
  }

  /** @param sentAt of a request that has been answered. */
  prove(sentAt: number): void {
    this.#provedAt = Math.max(this.#provedAt, sentAt);
  }

  standing(now: number): Standing {
    const age = now - this.#provedAt;
    if (age >= this.#timeoutMs) return 'over';
    return age >= this.#timeoutMs / 2 ? 'doubtful' : 'held';
  }

  heartbeatDue(now: number): boolean {
    return now - this.#provedAt >= this.#timeoutMs / HEARTBEATS_PER_TIMEOUT;
  }

  /** Interval of checks: milliseconds. */
  get tickMs(): number {
    return this.#timeoutMs / HEARTBEATS_PER_TIMEOUT / 2;
  }
}
