/** The drivers that connections may name, and those of them that a process has loaded. */

import { drivers, messengers } from '../../../drivers/index.ts';
import type { Driver, DriverImports } from '../../driver/driver.ts';
import type { MessengerImports } from '../../driver/messenger.ts';
import { ownModule } from '../../lib/own-file.ts';

/** Drivers to choose from; none is loaded yet. */
export interface DriverTable {
  /** Exports `drivers`, the same entries. Threads import it, since functions cannot be sent. */
  readonly module: URL;
  readonly entries: readonly DriverImports[];
  /** Exported as `messengers`. Absent: none. */
  readonly messengers?: readonly MessengerImports[];
}

/** The drivers that the connections of this process name. */
export interface LoadedDrivers {
  /** Of the table they come from. */
  readonly module: URL;
  /** By the value of `driver =` in a connection's section. */
  readonly byName: ReadonlyMap<string, Driver>;
}

/** The drivers of the release. */
export const driverTable: DriverTable = {
  module: ownModule('drivers/index'),
  entries: drivers,
  messengers,
};
