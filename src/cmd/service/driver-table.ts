/** The drivers of a process, and the module that exports them, which worker threads import themselves. */
import { drivers } from '../../../drivers/index.ts';
import type { Driver } from '../../driver/driver.ts';

export interface DriverTable {
  /** Exports `drivers`. */
  readonly module: URL;
  readonly byName: ReadonlyMap<string, Driver>;
}

export const driverTable: DriverTable = tableOf(
  drivers,
  new URL('../../../drivers/index.ts', import.meta.url),
);

export function tableOf(list: readonly Driver[], module: URL): DriverTable {
  return { module, byName: new Map(list.map(driver => [driver.name, driver])) };
}
