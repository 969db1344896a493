/**
 * Reads a configuration as `gatehouse start` would, without opening a store, a port or a mirror, and returns every error in it.
 * With layouts, it also fetches the projects' configuration files into a temporary directory; online, it asks the code hosts whether
 * they serve what the pipelines want.
 */
import path from 'node:path';
import type { Connection } from '../../driver/connection.ts';
import { languageOf } from '../../driver/language-of.ts';
import type { RepositoryCache } from '../../git/repository-cache.ts';
import { buildLayout, type LayoutInput } from '../../layout/build/build-layout.ts';
import type { Languages } from '../../layout/build/build-pipeline.ts';
import type { Layout } from '../../layout/model/layout.ts';
import { parseCache } from '../../layout/stanzas/parse-cache.ts';
import { systemClock } from '../../lib/clock.ts';
import { configErrorText } from '../../model/config-error.ts';
import type { Tenant } from '../../model/layout.ts';
import type { ConnectionName } from '../../model/project.ts';
import { readAuthKeys } from '../../settings/auth-keys.ts';
import { readSettings } from '../../settings/read-settings.ts';
import type { Settings } from '../../settings/settings.ts';
import { readTlsFiles } from '../../settings/tls-files.ts';
import { driverTable } from '../service/driver-table.ts';
import { noRepositories } from '../service/no-repositories.ts';
import { hostsOf, type OpenedConnections, openConnections, withoutKey } from '../service/open-connections.ts';
import { readNotices } from '../service/read-notices.ts';
import { readTenants } from '../service/read-tenants.ts';
import { checkOnline, type OnlineReport, onlineProblemText } from './check-online.ts';
import { readBranchConfigs } from './read-branch-configs.ts';

/** What could be read is there even when there are errors. */
export interface CheckedConfig {
  /** One line each, with its location. Empty: the configuration is valid. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  /** Undefined: the settings file is invalid. */
  readonly settings: Settings | undefined;
  readonly tenants: readonly Tenant[];
  /** By tenant; those whose projects could be read. Empty unless asked for. */
  readonly layouts: ReadonlyMap<string, Layout>;
  /** Of which each of them was built. */
  readonly inputs: ReadonlyMap<string, LayoutInput>;
  /** Its problems are among `errors` and `warnings`. Undefined: not asked for, or there was nothing to ask. */
  readonly online: OnlineReport | undefined;
}

/** What to check; `config-check` takes it from its command line. */
export interface CheckOptions {
  /** As given by the user; errors show it like that. */
  readonly file: string;
  readonly environment: { readonly [name: string]: string | undefined };
  /** Read the projects' own configuration, too. `online`: and ask the hosts about the projects. */
  readonly depth: 'settings' | 'layout' | 'online';
  readonly signal: AbortSignal;
}

/**
 * Contacts code hosts only for layouts, and only when all else is valid. An unreachable project is an error, nothing is thrown for
 * it.
 */
export async function checkConfig({
  file,
  environment,
  depth,
  signal,
}: CheckOptions): Promise<CheckedConfig> {
  const read = readSettings(file, environment);
  if (read.kind === 'invalid')
    return { errors: read.errors, warnings: [], settings: undefined, tenants: [], ...NOT_READ };
  const { settings } = read;
  const opened = await openConnections(settings.connections, driverTable, {
    clock: systemClock(),
    log: SILENT,
    repositories: noRepositories('checking settings opens no repository'),
  });
  for (const connection of opened.connections.values()) await connection.close();
  const { tenantConfig, tenantConfigIsScript = false, ansible } = settings.scheduler;
  const tenantFile =
    tenantConfig === undefined
      ? NO_TENANTS
      : await readTenants(
          shownPath(tenantConfig),
          tenantConfigIsScript,
          hostsOf(settings.connections, opened),
          ansible,
        );
  const errors = [
    ...opened.errors,
    ...readNotices(settings.notify, opened).errors,
    ...(tenantFile.kind === 'invalid' ? tenantFile.errors : []),
    // Only schedulers read tenants.
    ...(tenantConfig === undefined ? [] : withoutKey(opened.connections)),
    ...storeErrors(settings),
    ...authErrors(settings),
  ];
  const tenants = tenantFile.kind === 'invalid' ? [] : tenantFile.tenants;
  const warnings = [...read.warnings, ...(tenantFile.kind === 'invalid' ? [] : tenantFile.warnings)];
  const found = { settings, tenants, warnings };
  if (depth === 'settings' || errors.length > 0) return { ...found, errors, ...NOT_READ };
  const checked = await checkLayouts(settings, opened, tenants, signal);
  const online = depth === 'online' ? await askHosts(settings, checked.layouts, signal) : NOT_READ.online;
  const problems = (severity: 'error' | 'warning') =>
    (online?.problems ?? []).filter(each => each.severity === severity).map(onlineProblemText);
  return {
    ...found,
    errors: [...checked.errors, ...problems('error')],
    warnings: [...warnings, ...checked.warnings, ...problems('warning')],
    layouts: checked.layouts,
    inputs: checked.inputs,
    online,
  };
}

const NOT_READ: Pick<CheckedConfig, 'layouts' | 'inputs' | 'online'> = {
  layouts: new Map(),
  inputs: new Map(),
  online: undefined,
};

/** A process of an ensemble may be an executor or a merger, which need no tenants. */
const NO_TENANTS = { kind: 'tenants', tenants: [], warnings: [] } as const;

function storeErrors({ store }: Settings): readonly string[] {
  if (store.kind === 'embedded' || store.tls === undefined) return [];
  const files = readTlsFiles(store.tls);
  return files.kind === 'invalid' ? files.errors : [];
}

function authErrors({ auth }: Settings): readonly string[] {
  const keys = readAuthKeys(auth);
  return keys.kind === 'invalid' ? keys.errors : [];
}

async function checkLayouts(
  settings: Settings,
  { connections, messengerLanguages, loaded }: OpenedConnections,
  tenants: readonly Tenant[],
  signal: AbortSignal,
) {
  const read = await readBranchConfigs(settings, tenants, open => openAll(settings, open), signal);
  const cache = parseCache();
  const languages: Languages = new Map([
    ...[...connections].flatMap(([name, connection]) => {
      const driver = loaded.byName.get(connection.driver);
      return driver === undefined ? [] : [[name, languageOf(driver, connection)] as const];
    }),
    ...[...messengerLanguages].map(([name, { config }]) => [name, config] as const),
  ]);
  const layouts = new Map<string, Layout>();
  const inputs = new Map<string, LayoutInput>();
  for (const tenant of tenants) {
    // Without a project's definitions, the errors of the others would be misleading.
    if (tenant.projects.some(({ project }) => read.unreadable.has(project))) continue;
    const configs = read.configs.get(tenant.name) ?? [];
    const input = { tenant, configs, languages, cache };
    inputs.set(tenant.name, input);
    layouts.set(tenant.name, buildLayout(input));
  }
  const found = [...layouts.values()].flatMap(({ errors }) => errors);
  // A project in several tenants is checked in each of them and repeats its errors.
  const texts = (severity: 'error' | 'warning') => [
    ...new Set(found.filter(each => each.severity === severity).map(configErrorText)),
  ];
  return { layouts, inputs, errors: [...read.errors, ...texts('error')], warnings: texts('warning') };
}

async function askHosts(
  settings: Settings,
  layouts: CheckedConfig['layouts'],
  signal: AbortSignal,
): Promise<OnlineReport> {
  await using stack = new AsyncDisposableStack();
  const connections = await openAll(settings, noRepositories('asking hosts opens no repository'));
  for (const connection of connections.values()) stack.defer(() => connection.close());
  return await checkOnline(connections, layouts.values(), signal);
}

/** Each with its credentials; the caller closes them. */
export async function openAll(
  settings: Settings,
  repositories: RepositoryCache,
): Promise<ReadonlyMap<ConnectionName, Connection>> {
  const deps = { clock: systemClock(), log: SILENT, repositories };
  const { connections } = await openConnections(settings.connections, driverTable, deps);
  return connections;
}

/** Relative to the working directory, if the file is below it. */
function shownPath(file: string): string {
  const relative = path.relative(process.cwd(), file);
  return relative.startsWith('..') || relative === '' ? file : relative;
}

const SILENT = { debug: () => {}, info: () => {}, warn: () => {} };
