/** The driver table of tests that have a fake host: all drivers there are, and its own. */
import { drivers } from '../../../drivers/index.ts';
import { tableOf } from '../../../src/cmd/service/driver-table.ts';
import { contractDriver } from './driver.ts';

export const contractTable = tableOf(
  [...drivers, contractDriver],
  new URL('./languages.ts', import.meta.url),
);
