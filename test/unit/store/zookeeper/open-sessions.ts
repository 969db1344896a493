/** Sessions for tests, with a clock that can be moved. */
import type { Log } from '../../../../src/lib/log.ts';
import type { Store } from '../../../../src/store/port.ts';
import type { ZooKeeperOptions } from '../../../../src/store/zookeeper/options.ts';
import { ZooKeeperSession } from '../../../../src/store/zookeeper/session.ts';
import { openZooKeeper } from '../../../../src/store/zookeeper/source.ts';
import { TIMEOUT_MS } from './scripted-server.ts';

class MovableClock {
  #ahead = 0;
  monotonic(): number {
    return performance.now() + this.#ahead;
  }
  /** As if nothing had run for so long. */
  advance(ms: number): void {
    this.#ahead += ms;
  }
}

/** Keeps lines: `level: text`. */
export class KeptLog implements Log {
  readonly lines: string[] = [];
  debug = (_: object, text: string): unknown => this.lines.push(`debug: ${text}`);
  info = (_: object, text: string): unknown => this.lines.push(`info: ${text}`);
  warn = (_: object, text: string): unknown => this.lines.push(`warn: ${text}`);
  error = (_: object, text: string): unknown => this.lines.push(`error: ${text}`);
  child = (): Log => this;
}

export interface Opened extends AsyncDisposable {
  readonly clock: MovableClock;
  readonly log: KeptLog;
  connect(signal?: AbortSignal): Promise<ZooKeeperSession>;
}

type Host = ZooKeeperOptions['hosts'][number];

export function openSessions(hosts: readonly Host[], more: Partial<ZooKeeperOptions> = {}): Opened {
  const clock = new MovableClock();
  const log = new KeptLog();
  const plain = {
    hosts,
    sessionTimeoutMs: TIMEOUT_MS,
    auth: undefined,
    tls: undefined,
    clock,
    log,
    random: () => 0.5,
  };
  const source = openZooKeeper({ ...plain, ...more });
  return {
    clock,
    log,
    connect: async signal => ownSession(await source.connect('test', signal)),
    [Symbol.asyncDispose]: async () => await source[Symbol.asyncDispose](),
  };
}

function ownSession(store: Store): ZooKeeperSession {
  if (store instanceof ZooKeeperSession) return store;
  throw new Error('a store of another kind');
}

/** Code of the StoreError with which a call ends, or `done`. */
export async function outcome(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'done';
  } catch (error) {
    if (error instanceof Error && 'code' in error) return String(error.code);
    throw error;
  }
}
