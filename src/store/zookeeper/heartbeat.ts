/**
 * Checks the connection regularly: asks for a proof of life when one is due, and cuts a connection that gives none.
 *
 * With T for the session timeout, a connection is cut when
 * - nothing has been received for T/2 since something was asked: lock holders have stopped by now, and the rest of the time
 *   is for finding another server;
 * - a request has had no answer for T: the server is reachable, but does not work;
 * - a request has waited in the queue for a minute: so every call ends, however long the queue.
 */
import type { Lease } from './lease.ts';
import type { Link } from './link.ts';
import { sync } from './requests.ts';

/** However long the timeout and the queue. */
const LONGEST_CALL_MS = 60_000;

/** Passed by the session, which judges the lease. */
export interface HeartbeatDeps {
  readonly link: Pick<Link, 'send' | 'cut' | 'isAttached' | 'lastReadAt' | 'oldestCall'>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Called before each check. False: the session is over, and the heartbeat stops. */
  readonly goesOn: () => boolean;
}

/** One per session; `start` again on each connection. */
export class Heartbeat {
  readonly #deps: HeartbeatDeps;
  #timer: NodeJS.Timeout | undefined;
  /** A proof is in flight. */
  #beating = false;

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps;
  }

  /** On a new connection; the lease determines the interval. Asks for a proof immediately, behind everything that is queued. */
  start(lease: Lease): void {
    this.#beat('last');
    this.#schedule(lease);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #schedule(lease: Lease): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      // After a pause of this process, answers that arrived meanwhile must be read before silence is judged.
      setImmediate(() => {
        if (!this.#deps.goesOn()) return;
        if (this.#deps.link.isAttached) this.#check(lease);
        this.#schedule(lease);
      });
    }, lease.tickMs);
  }

  #check(lease: Lease): void {
    const { link } = this.#deps;
    const now = this.#deps.now();
    const { madeAt = now, sentAt = now } = link.oldestCall ?? {};
    // A server owes nothing while we have asked nothing, for instance because this process was stopped.
    const silentSince = Math.max(link.lastReadAt, sentAt);
    if (now - silentSince >= lease.timeoutMs / 2) link.cut('silent for half the session timeout');
    else if (now - sentAt >= lease.timeoutMs) link.cut('no answer to a request for the session timeout');
    else if (now - madeAt >= Math.max(LONGEST_CALL_MS, lease.timeoutMs))
      link.cut('a request has waited too long for its turn');
    else if (!this.#beating && lease.heartbeatDue(now)) this.#beat('first');
  }

  /** A `sync` goes through the leader; see lease.ts for why a ping would not do. */
  #beat(place: 'first' | 'last'): void {
    this.#beating = true;
    const done = (): void => {
      this.#beating = false;
    };
    this.#deps.link.send(sync(), place).then(done, done);
  }
}
