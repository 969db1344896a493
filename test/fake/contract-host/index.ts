/** The driver table of tests that have a fake host: all drivers there are, and its own. Threads load this module. */
import { drivers as real } from '../../../drivers/index.ts';
import type { DriverTable } from '../../../src/cmd/service/driver-table.ts';
import type { DriverImports } from '../../../src/driver/driver.ts';

export const drivers: readonly DriverImports[] = [
  ...real,
  {
    name: 'contract',
    load: async () => (await import('./driver.ts')).contractDriver,
    loadLanguages: async () => (await import('./languages.ts')).contractLanguages,
  },
];

export const contractTable: DriverTable = { module: new URL(import.meta.url), entries: drivers };
