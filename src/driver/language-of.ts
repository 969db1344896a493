import type { Connection } from './connection.ts';
import type { Driver, DriverConfigLanguage } from './driver.ts';

/** What pipelines may say about a connection: the driver's language, or the smaller one of a connection that only reads. */
export function languageOf(driver: Driver, connection: Pick<Connection, 'readOnly'>): DriverConfigLanguage {
  return connection.readOnly === true ? (driver.readOnlyConfig ?? driver.config) : driver.config;
}
