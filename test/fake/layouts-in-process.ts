/** Layouts in this thread, for schedulers under test and for virtual time. */
import type { Driver } from '../../src/driver/driver.ts';
import { type LayoutTable, layoutTable } from '../../src/layout/layout-table.ts';
import type { Calls } from '../../src/lib/calls.ts';

export function layoutsInProcess(
  drivers: ReadonlyMap<string, Pick<Driver, 'config'>>,
  monotonic: () => number,
): Calls<LayoutTable> {
  const languages = new Map([...drivers].map(([connection, { config }]) => [connection, config]));
  const table = layoutTable(languages, monotonic);
  return {
    call: async (name, argument) => Reflect.apply(table[name], table, [argument]),
    [Symbol.asyncDispose]: async () => {},
  };
}
