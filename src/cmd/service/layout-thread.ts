/** A worker thread that holds layouts; see open-layouts.ts. */
import type { DriverConfigLanguage, DriverImports } from '../../driver/driver.ts';
import { languageOf } from '../../driver/language-of.ts';
import type { MessengerImports, MessengerLanguages } from '../../driver/messenger.ts';
import { type LayoutTable, layoutTable } from '../../layout/layout-table.ts';
import { serveCalls } from '../../lib/worker-calls.ts';

/** Names instead of drivers: the thread imports them itself. */
export interface LayoutThreadData {
  readonly drivers: readonly {
    readonly connection: string;
    readonly driver: string;
    readonly readOnly: boolean;
  }[];
  /** Connections that only take reports. */
  readonly messengers: readonly { readonly connection: string; readonly driver: string }[];
  /** `DriverTable.module`. */
  readonly module: string;
}

serveCalls<LayoutTable, LayoutThreadData>(async ({ drivers, messengers, module }) => {
  const table: {
    readonly drivers: readonly DriverImports[];
    readonly messengers?: readonly MessengerImports[];
  } = await import(module);
  const languages = new Map<string, DriverConfigLanguage | MessengerLanguages['config']>();
  for (const { connection, driver: name, readOnly } of drivers) {
    const driver = await table.drivers.find(entry => entry.name === name)?.loadLanguages();
    if (driver !== undefined) languages.set(connection, languageOf(driver, readOnly ? { readOnly } : {}));
  }
  for (const { connection, driver: name } of messengers) {
    const driver = await table.messengers?.find(entry => entry.name === name)?.loadLanguages();
    if (driver !== undefined) languages.set(connection, driver.config);
  }
  return layoutTable(languages, () => performance.now());
});
