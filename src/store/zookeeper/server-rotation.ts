/**
 * Which server to try next, and how long to wait before.
 *
 * Servers are tried in random order, so that many clients spread out. One round tries each of them without a pause; between
 * rounds there is a doubling pause with jitter. The count starts again only when a connection has proved good, not when one
 * was merely opened: a server without quorum accepts and closes immediately.
 */
import { backoffDelay } from '../../lib/backoff.ts';
import type { ZooKeeperHost } from './options.ts';

/** At most a second: a session survives only a few of them, and a returning ensemble should be found soon. */
const BETWEEN_ROUNDS = { firstMs: 50, maxMs: 1000 };

/** One per session, across its connections. */
export class ServerRotation {
  readonly #servers: readonly ZooKeeperHost[];
  readonly #random: () => number;
  #next = 0;
  /** Tries since the last good connection; undefined before the very first, which needs no pause. */
  #tries: number | undefined;

  /** @param random uniform in [0, 1). */
  constructor(servers: readonly ZooKeeperHost[], random: () => number) {
    if (servers.length === 0) throw new RangeError('ZooKeeper: no server to connect to');
    this.#servers = shuffled(servers, random);
    this.#random = random;
  }

  /** @returns the server, and the milliseconds to wait before it is dialled. */
  next(): { readonly server: ZooKeeperHost; readonly delayMs: number } {
    const server = this.#servers[this.#next % this.#servers.length];
    if (server === undefined) throw new RangeError('ZooKeeper: no server to connect to');
    this.#next += 1;
    return { server, delayMs: this.#delay() };
  }

  /** The connection works: the next one starts a new count. */
  succeeded(): void {
    this.#tries = 0;
  }

  #delay(): number {
    if (this.#tries === undefined) {
      this.#tries = 1;
      return 0;
    }
    const round = Math.floor(this.#tries / this.#servers.length);
    const opensRound = this.#tries % this.#servers.length === 0;
    this.#tries += 1;
    return opensRound ? backoffDelay(BETWEEN_ROUNDS, round + 1, this.#random()) : 0;
  }
}

/** Fisher and Yates. */
function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  const rest = [...items];
  const order: T[] = [];
  while (rest.length > 0) order.push(...rest.splice(Math.floor(random() * rest.length), 1));
  return order;
}
