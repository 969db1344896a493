/** Sessions of the real client, for tests that break what is below them. */
import { systemClock } from '../../../src/lib/clock.ts';
import type { Log } from '../../../src/lib/log.ts';
import type { Store, StoreSource } from '../../../src/store/port.ts';
import type { ZooKeeperOptions } from '../../../src/store/zookeeper/options.ts';
import { ZooKeeperSession } from '../../../src/store/zookeeper/session.ts';
import { openZooKeeper } from '../../../src/store/zookeeper/source.ts';
import { closeSession } from '../../fake/zookeeper/close-session.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export function openSource(hosts: readonly Address[], more: Partial<ZooKeeperOptions> = {}): StoreSource {
  return openZooKeeper({
    hosts,
    sessionTimeoutMs: 10_000,
    auth: undefined,
    tls: undefined,
    clock: systemClock(),
    log: SILENT,
    random: Math.random,
    ...more,
  });
}

/** Makes the server end the session, as if its client had been silent for too long. */
export async function expireSession(store: Store, server: Address): Promise<void> {
  if (!(store instanceof ZooKeeperSession)) throw new Error('not a session of the real client');
  await closeSession(server.port, store.credentials(), server.host);
}

const SILENT: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => SILENT,
};
