/** A worker thread that holds the layouts of one tenant; see open-layouts.ts. */
import { workerData } from 'node:worker_threads';
import { type LayoutTable, layoutTable } from '../../layout/layout-table.ts';
import { serveCalls } from '../../lib/worker-calls.ts';
import { driversByName } from './open-connections.ts';

export interface LayoutThreadData {
  /** Connection → driver. */
  readonly drivers: readonly (readonly [connection: string, driver: string])[];
}

const { drivers }: LayoutThreadData = workerData;
const known = driversByName();
const languages = new Map(
  drivers.flatMap(([connection, name]) => {
    const driver = known.get(name);
    return driver === undefined ? [] : [[connection, driver.config] as const];
  }),
);
serveCalls<LayoutTable>(layoutTable(languages, () => performance.now()));
