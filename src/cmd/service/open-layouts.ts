import type { Driver } from '../../driver/driver.ts';
import type { LayoutTable } from '../../layout/layout-table.ts';
import type { Calls } from '../../lib/calls.ts';
import { ownModule } from '../../lib/own-file.ts';
import { sharedCalls } from '../../lib/shared-calls.ts';
import { callsToWorker } from '../../lib/worker-calls.ts';
import type { LoadedDrivers } from './driver-table.ts';
import type { LayoutThreadData } from './layout-thread.ts';

/** Processor time, so that a busy machine does not count. The largest known tenant builds in less than one second. */
const LIMIT_MS = 10_000;
/** A layout of 50 000 jobs takes about a fifth of it. */
const HEAP_MB = 1024;

/** Threads of a scheduler: as many tenants have one of their own, so that a costly proposal delays no other; more share them. */
const MOST_THREADS = 8;

/**
 * Builds layouts in threads. Tenants that share one share its parsed files; what is lost with a thread is built again.
 *
 * @returns opens the calls of one more tenant. The drivers are the same each time.
 */
export function layoutThreads(
  loaded: LoadedDrivers,
  messengers?: ReadonlyMap<string, { readonly driver: string }>,
): (drivers: ReadonlyMap<string, Driver>) => Calls<LayoutTable> {
  return sharedCalls(MOST_THREADS, drivers => openLayouts(drivers, loaded, messengers));
}

export function openLayouts(
  drivers: ReadonlyMap<string, Driver>,
  { module, byName }: LoadedDrivers,
  messengers: ReadonlyMap<string, { readonly driver: string }> = new Map(),
): Calls<LayoutTable> {
  const data: LayoutThreadData = {
    drivers: [...drivers].map(([connection, { name, config }]) => ({
      connection,
      driver: name,
      readOnly: config === byName.get(name)?.readOnlyConfig,
    })),
    messengers: [...messengers].map(([connection, { driver }]) => ({ connection, driver })),
    module: module.href,
  };
  return callsToWorker<LayoutTable>({
    entry: ownModule('src/cmd/service/layout-thread'),
    data,
    limits: { ms: LIMIT_MS, of: 'processor', heapMb: HEAP_MB, waiting: Number.POSITIVE_INFINITY },
  });
}
