/** What scheduler tests stand on: a store in memory, clocks and ids that repeat, a log that remembers. */
import type { Clock, Nanoseconds } from '../../../src/lib/clock.ts';
import { derivedUuid, type IdMaker } from '../../../src/lib/ids.ts';
import type { Log } from '../../../src/lib/log.ts';
import { createPauseSwitch, type PauseSwitch } from '../../../src/scheduler/pause-switch.ts';
import { openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { ensureNode } from '../../../src/store/ensure-node.ts';
import { acquireFence, type Fence } from '../../../src/store/fence.ts';
import { storePaths } from '../../../src/store/paths.ts';
import type { Store } from '../../../src/store/port.ts';
import type { LiveTracing } from '../../../src/tracing/live-tracing.ts';
import { NO_TRACING } from '../../fake/no-tracing.ts';

export interface Stand extends AsyncDisposable {
  readonly store: Store;
  /** Another process's session on the same store. */
  connect(): Store;
  readonly paths: ReturnType<typeof storePaths>;
  readonly clock: Clock & { advance(ms: number): void };
  readonly ids: IdMaker;
  readonly log: Log;
  readonly logged: string[];
  readonly pauseSwitch: PauseSwitch;
  /** Off. */
  readonly tracing: LiveTracing;
  fence(name: string): Promise<Fence>;
}

export function openStand(): Stand {
  const server = openEmbeddedStore({ file: ':memory:' });
  const store = server.connect();
  const logged: string[] = [];
  let now = 1_795_000_000_000_000_000n;
  let made = 0;
  const ids: IdMaker = { uuid: () => derivedUuid('stand', String(++made)) };
  const log: Log = logTo(logged);
  return {
    store,
    connect: () => server.connect(),
    paths: storePaths('/gatehouse'),
    clock: {
      now: () => (++now).toString() as Nanoseconds,
      monotonic: () => Number(now / 1_000_000n),
      advance: ms => {
        now += BigInt(Math.round(ms * 1e6));
      },
    },
    ids,
    log,
    logged,
    pauseSwitch: createPauseSwitch(),
    tracing: NO_TRACING,
    async fence(name) {
      const base = `/fences/${name}`;
      await ensureNode(store, base);
      return acquireFence(store, {
        lockPath: `${base}/lock`,
        epochPath: `${base}/epoch`,
        lastOperationPath: `${base}/last`,
        guid: ids.uuid(),
      });
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

function logTo(lines: string[]): Log {
  const write = (level: string) => (_facts: object, text: string) => void lines.push(`${level}: ${text}`);
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: () => logTo(lines),
  };
}

/** Resolves when `met` holds, looking again after each turn of the event loop; rejects after `limit` milliseconds. */
export async function eventually(
  met: () => boolean | Promise<boolean>,
  what: string,
  limit = 60_000,
): Promise<void> {
  const deadline = performance.now() + limit;
  while (!(await met())) {
    if (performance.now() > deadline) throw new Error(`not within ${limit} ms: ${what}`);
    await new Promise(resolve => setImmediate(resolve));
  }
}
