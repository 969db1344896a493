/** `[connection NAME]` sections → open connections, each by its driver; every error as one line with its location. */
import type { Connection, ConnectionDeps } from '../../driver/connection.ts';
import type { Driver } from '../../driver/driver.ts';
import type { Messenger, MessengerLanguages } from '../../driver/messenger.ts';
import { didYouMean } from '../../lib/nearest-name.ts';
import { optionReader, showOptionProblem } from '../../lib/option-reader.ts';
import type { ConnectionName } from '../../model/project.ts';
import type { ConnectionSection } from '../../settings/settings.ts';
import type { DriverTable, LoadedDrivers } from './driver-table.ts';

/** A section with an error has no connection. The caller closes the others, also when there are errors. */
export interface OpenedConnections {
  readonly connections: ReadonlyMap<ConnectionName, Connection>;
  /** Those that only take reports. */
  readonly messengers: ReadonlyMap<ConnectionName, Messenger>;
  /** What pipelines may say about them. */
  readonly messengerLanguages: ReadonlyMap<
    ConnectionName,
    Pick<MessengerLanguages, 'config' | 'takesNotices'>
  >;
  readonly loaded: LoadedDrivers;
  readonly errors: readonly string[];
}

/** Contacts no host. A section that names a driver which the table does not have is an error. */
export async function openConnections(
  sections: readonly ConnectionSection[],
  { module, entries, messengers: taking = [] }: DriverTable,
  deps: ConnectionDeps,
): Promise<OpenedConnections> {
  const known = new Map(entries.map(entry => [entry.name, entry]));
  const knownMessengers = new Map(taking.map(entry => [entry.name, entry]));
  const messengers = new Map<ConnectionName, Messenger>();
  const messengerLanguages = new Map<ConnectionName, MessengerLanguages>();
  const byName = new Map<string, Driver>();
  const connections = new Map<ConnectionName, Connection>();
  const errors: string[] = [];
  for (const section of sections) {
    const messenger = await knownMessengers.get(section.driver)?.load();
    if (messenger !== undefined) {
      const options = optionReader(section);
      const opened = await messenger.connect(section.connection, options, deps);
      const problems = options.finish();
      errors.push(...problems.map(showOptionProblem));
      messengerLanguages.set(section.connection, messenger);
      if (opened !== undefined && problems.length === 0) messengers.set(section.connection, opened);
      continue;
    }
    const entry = known.get(section.driver);
    if (entry === undefined) {
      const names = [...known.keys(), ...knownMessengers.keys()];
      const reason = `there is no driver "${section.driver}"${didYouMean(section.driver, names)}; there are: ${names.join(', ')}`;
      errors.push(showOptionProblem({ at: section.at, section: section.name, option: 'driver', reason }));
      continue;
    }
    const driver = byName.get(entry.name) ?? (await entry.load());
    byName.set(entry.name, driver);
    const options = optionReader(section);
    const connection = await driver.connect(section.connection, options, deps);
    const problems = options.finish();
    errors.push(...problems.map(showOptionProblem));
    if (connection !== undefined && problems.length === 0) connections.set(section.connection, connection);
  }
  return { connections, messengers, messengerLanguages, loaded: { module, byName }, errors };
}

/** Host part of canonical project names, by connection that has projects; of one that could not be opened its own name. */
export function hostsOf(
  sections: readonly ConnectionSection[],
  { connections, messengerLanguages }: Pick<OpenedConnections, 'connections' | 'messengerLanguages'>,
): ReadonlyMap<ConnectionName, string> {
  const hosts = sections.filter(({ connection }) => !messengerLanguages.has(connection));
  return new Map(
    hosts.map(({ connection }) => [connection, connections.get(connection)?.canonicalHostname ?? connection]),
  );
}

/** An error for each connection without credentials, for processes that act at code hosts or lend access to executors. */
export function withoutKey(connections: ReadonlyMap<ConnectionName, Connection>): readonly string[] {
  return [...connections.values()]
    .filter(({ borrowsAccess }) => borrowsAccess === true)
    .map(
      ({ name }) =>
        `[connection ${name}] has no key: schedulers and mergers need one, only processes without them do not`,
    );
}
