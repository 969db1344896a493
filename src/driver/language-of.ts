import type { Connection } from './connection.ts';
import type { DriverConfigLanguage, DriverLanguages } from './driver.ts';

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
