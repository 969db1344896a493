/** The drivers a process works with, and the module they come from: a thread that needs them loads it anew. */
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
