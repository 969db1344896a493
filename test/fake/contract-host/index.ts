/** The driver table of tests that have a fake host: all drivers there are, and its own. Threads load this module, too. */
import { drivers as real } from '../../../drivers/index.ts';
import { tableOf } from '../../../src/cmd/service/driver-table.ts';
import type { Driver } from '../../../src/driver/driver.ts';
import { contractDriver } from './driver.ts';

export const drivers: readonly Driver[] = [...real, contractDriver];

export const contractTable = tableOf(drivers, new URL(import.meta.url));
