/** A worker thread that holds the layouts of one tenant; see open-layouts.ts. */
import { workerData } from 'node:worker_threads';
import type { DriverLanguages } from '../../driver/driver.ts';
import { languageOf } from '../../driver/language-of.ts';
import { type LayoutTable, layoutTable } from '../../layout/layout-table.ts';
import { serveCalls } from '../../lib/worker-calls.ts';

/** Names instead of drivers: the thread imports them itself. */
export interface LayoutThreadData {
  readonly drivers: readonly {
    readonly connection: string;
    readonly driver: string;
    readonly readOnly: boolean;
  }[];
  /** The driver table's module. */
  readonly module: string;
}

const { drivers, module }: LayoutThreadData = workerData;
const imported: { readonly languages: readonly DriverLanguages[] } = await import(module);
const known = new Map(imported.languages.map(driver => [driver.name, driver]));
const languages = new Map(
  drivers.flatMap(({ connection, driver: name, readOnly }) => {
    const driver = known.get(name);
    return driver === undefined
      ? []
      : [[connection, languageOf(driver, readOnly ? { readOnly } : {})] as const];
  }),
);
serveCalls<LayoutTable>(layoutTable(languages, () => performance.now()));
