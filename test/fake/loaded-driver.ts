import type { Driver, DriverImports } from '../../src/driver/driver.ts';

/** A driver made in a test, as an entry of a table. Threads load all of it. */
export function loadedDriver(driver: Driver): DriverImports {
  return { name: driver.name, load: async () => driver, loadLanguages: async () => driver };
}
