/** The drivers of a process, and the module with their languages, which worker threads import themselves. */
import { drivers } from '../../../drivers/index.ts';
import type { Driver } from '../../driver/driver.ts';

/** The drivers as objects for this thread, and their languages as a module for others, since functions cannot be sent. */
export interface DriverTable {
  /** Exports `languages`. */
  readonly module: URL;
  /** By the value of `driver =` in a connection's section. */
  readonly byName: ReadonlyMap<string, Driver>;
}

/** The drivers of the release. */
export const driverTable: DriverTable = tableOf(
  drivers,
  new URL('../../../drivers/languages.ts', import.meta.url),
);

/** @param module exports `languages`, those of the drivers in `list`. */
export function tableOf(list: readonly Driver[], module: URL): DriverTable {
  return { module, byName: new Map(list.map(driver => [driver.name, driver])) };
}
