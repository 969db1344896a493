import type { ConnectionName } from '../model/project.ts';
import type { Connection } from './connection.ts';
import type { Driver, DriverConfigLanguage, DriverLanguages } from './driver.ts';

/**
 * What pipelines may say about a connection: the driver's language, or the smaller one of a connection that only reads. Changes land
 * as the connection's settings say.
 */
export function languageOf(
  driver: DriverLanguages,
  { readOnly, landsBy }: Pick<Connection, 'readOnly' | 'landsBy'>,
): DriverConfigLanguage {
  const config = readOnly === true ? (driver.readOnlyConfig ?? driver.config) : driver.config;
  if (landsBy === undefined) return config;
  return { ...config, landingMode: reporter => (config.landingMode(reporter) === null ? null : landsBy) };
}

/** The driver of each connection, with the language that the connection uses. */
export function driversOfConnections(
  connections: ReadonlyMap<ConnectionName, Pick<Connection, 'driver' | 'readOnly' | 'landsBy'>>,
  drivers: ReadonlyMap<string, Driver>,
): ReadonlyMap<ConnectionName, Driver> {
  return new Map(
    [...connections].flatMap(([name, connection]) => {
      const driver = drivers.get(connection.driver);
      return driver === undefined
        ? []
        : [[name, { ...driver, config: languageOf(driver, connection) }] as const];
    }),
  );
}
