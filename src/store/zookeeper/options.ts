/** Options of a session with a ZooKeeper ensemble. */
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Secret } from '../../lib/secret.ts';

/** From `[zookeeper]` of the settings; the same for all sessions of a process. */
export interface ZooKeeperOptions {
  /** At least one. Tried in random order, one after the other. */
  readonly hosts: readonly ZooKeeperHost[];
  /** Milliseconds of silence after which the server ends the session; the server may grant less or more. */
  readonly sessionTimeoutMs: number;
  /** Digest authentication; every created node is then readable and writable by this user alone. Undefined: open to all. */
  readonly auth: { readonly user: string; readonly password: Secret } | undefined;
  /** PEM contents. Undefined: no TLS. */
  readonly tls: { readonly ca: Buffer; readonly cert: Buffer; readonly key: Buffer } | undefined;
  /** Read once per connection, to find out early whether we may; a missing node is fine. Default `/`. */
  readonly root?: string;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
  /** Uniform in [0, 1), for order and jitter. */
  readonly random: () => number;
}

/** One server of `hosts`. */
export interface ZooKeeperHost {
  /** Name or address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}
