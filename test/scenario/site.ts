/** What an operator would write, and the service that is started from it, in this process. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ComponentName } from '../../src/cmd/service/core.ts';
import type { DriverTable } from '../../src/cmd/service/driver-table.ts';
import { openStoreSource } from '../../src/cmd/service/open-store-source.ts';
import { type Service, startService } from '../../src/cmd/service/service.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import type { Log } from '../../src/lib/log.ts';
import { readSettings } from '../../src/settings/read-settings.ts';
import type { Settings } from '../../src/settings/settings.ts';
import { createKeyring } from '../../src/store/keystore/keyring.ts';
import { readZuulKeys } from '../../src/store/keystore/zuul-keys.ts';
import { COMPONENT_KINDS, storePaths } from '../../src/store/paths.ts';
import { SILENT } from '../fake/silent-log.ts';

export const TENANT = 'tenant-one';
export const CONNECTION = 'local';
/** A second connection: other projects of the same folder. */
export const FAR = 'far';
export const CONFIG_PROJECT = 'org/config';
export const TOKEN = 'token of the scenario';

export interface SiteOptions {
  readonly root: string;
  readonly projects: readonly string[];
  /** Default {@link CONFIG_PROJECT}. */
  readonly configProject?: string;
  /** Those of the connection {@link FAR}; default none, and no such connection. */
  readonly far?: readonly string[];
  /** That connection only reads. */
  readonly farReadOnly?: boolean;
  /** Its lines in place of those of the git driver. */
  readonly farLines?: readonly string[];
  /** Besides {@link TENANT}, with the same projects. */
  readonly moreTenants: readonly string[];
  /** Options of each untrusted project, a mapping of YAML. */
  readonly projectOptions?: string | undefined;
  /** More lines of each tenant. */
  readonly tenantOptions?: readonly string[] | undefined;
  /** The same for `moreTenants`, in place of those. */
  readonly moreTenantOptions?: readonly string[] | undefined;
  /** More stanzas of the tenant file. */
  readonly tenantStanzas?: string | undefined;
  readonly collector: string;
  /** The collector is named, and nothing is sent. */
  readonly tracingOff: boolean;
  /** More lines for sections of gatehouse.conf. */
  readonly executor: readonly string[];
  readonly tracing: readonly string[];
  readonly scheduler?: readonly string[];
  readonly sections: readonly string[];
  readonly store: SiteStore;
  /** A file of keys of projects that is imported before the start; needs `[keystore]` among the sections. */
  readonly keys?: string;
  readonly clock: Clock;
  /** Lines of the connection in place of those of the git driver. */
  readonly driverLines?: readonly string[];
  /** Default: those of the product. */
  readonly drivers?: DriverTable;
  /** Of the code host; default the repositories' folder. */
  readonly baseurl?: string;
  /** More lines of the connection's section. */
  readonly connection?: readonly string[];
  /** Builds at a time; default 30. */
  readonly maxBuilds?: number;
  /** Those that run in this service; default all. */
  readonly components?: readonly ComponentName[];
  /** Seconds; default 0: the hosts are asked once, at the start. */
  readonly pollInterval?: number;
}

export type SiteStore =
  | { readonly kind: 'embedded' }
  /** `root`: path below which all of the story is. */
  | { readonly kind: 'zookeeper'; readonly host: string; readonly port: number; readonly root: string };

export function stateOf(root: string): string {
  return path.join(root, 'state');
}

export function configOf(root: string): string {
  return path.join(root, 'etc/gatehouse.conf');
}

export async function startSite(options: SiteOptions, log: Log): Promise<Service> {
  const file = configOf(options.root);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, settingsText(options), { mode: 0o600 });
  await writeFile(path.join(options.root, 'etc/tenants.yaml'), tenantsText(options));
  if (options.keys !== undefined) await importKeys(file, options.keys);
  return startAgain(options, log);
}

/** Starts the service from the files that are there, on the state directory the last one left. */
async function startAgain(options: SiteOptions, log: Log): Promise<Service> {
  const read = readSettings(configOf(options.root), {});
  if (read.kind === 'invalid') throw new Error(read.errors.join('\n'));
  const started = await startService(
    withQuickFeed(read.settings),
    log,
    options.components ?? COMPONENT_KINDS,
    options.clock,
    options.drivers,
  );
  if (started.kind === 'refused') throw new Error(started.errors.join('\n'));
  await started.service.ready;
  return started.service;
}

/** Stories look at the live feed after each step: what they would wait for there is time in which nothing happens. */
function withQuickFeed(settings: Settings): Settings {
  const { web } = settings;
  return { ...settings, web: { ...web, sse: { ...web.sse, gatherMs: 10 } } };
}

/** As `gatehouse import-keys`, into a store that does not exist yet. */
async function importKeys(config: string, keys: string): Promise<void> {
  const read = readSettings(config, {});
  if (read.kind === 'invalid' || read.settings.keystore === undefined) throw new Error('no [keystore]');
  const { store: settings, keystore } = read.settings;
  const clock = systemClock();
  const opened = await openStoreSource(settings, { clock, log: SILENT });
  if (opened.kind === 'refused') throw new Error(opened.errors.join('\n'));
  await using source = opened.source;
  const store = await source.connect('import');
  const kept = await createKeyring(keystore.password).open(store, storePaths(settings.root), clock);
  const found = readZuulKeys(keys, keystore.password);
  if (found.kind === 'invalid') throw new Error(found.text);
  for (const each of found.projects) await kept.write(each.project, each.keys, false);
  await store.close();
}

/** As after an edit of the tenant file: the tenants have these projects now. */
export async function restartSite(
  options: SiteOptions,
  projects: readonly string[],
  log: Log,
): Promise<Service> {
  await writeFile(path.join(options.root, 'etc/tenants.yaml'), tenantsText({ ...options, projects }));
  return startAgain(options, log);
}

function settingsText({
  root,
  collector,
  tracingOff,
  executor,
  tracing: more,
  sections,
  store,
  pollInterval = 0,
  scheduler = [],
  connection = [],
  far = [],
  farReadOnly = false,
  farLines = gitLinesOfFar(root, farReadOnly),
  maxBuilds = 30,
  baseurl,
  driverLines = [
    'driver = git',
    `baseurl = ${baseurl ?? path.join(root, 'repositories')}`,
    'proposals = for/{branch}/{topic}',
    `poll_interval = ${pollInterval}`,
  ],
}: SiteOptions): string {
  const tracing = `enabled = ${!tracingOff}\nendpoint = ${collector}\ntimeout = 10000`;
  return `[scheduler]
tenant_config = tenants.yaml
state_dir = ${stateOf(root)}
${scheduler.join('\n')}
${storeText(store)}
[web]
port = 0

[executor]
${executor.some(line => line.startsWith('sandbox = ')) ? '' : 'sandbox = none'}
max_builds = ${maxBuilds}
${executor.join('\n')}

[tracing]
${[tracing, ...more].join('\n')}

${sections.join('\n')}

[connection ${CONNECTION}]
webhook_token = ${TOKEN}
${driverLines.join('\n')}
${connection.join('\n')}
${far.length === 0 ? '' : `\n[connection ${FAR}]\nwebhook_token = ${TOKEN}\n${farLines.join('\n')}\n`}`;
}

function gitLinesOfFar(root: string, readOnly: boolean): readonly string[] {
  return [
    'driver = git',
    `baseurl = ${path.join(root, 'repositories')}`,
    ...(readOnly ? [] : ['proposals = for/{branch}/{topic}']),
    'canonical_hostname = far.example.org',
    'poll_interval = 0',
  ];
}

function storeText(store: SiteStore): string {
  if (store.kind === 'embedded') return '';
  return `
[zookeeper]
hosts = ${store.host}:${store.port}
root = ${store.root}
session_timeout = 10
`;
}

function tenantsText({
  projects,
  configProject = CONFIG_PROJECT,
  moreTenants,
  projectOptions,
  tenantOptions = [],
  moreTenantOptions = tenantOptions,
  tenantStanzas = '',
  far = [],
}: SiteOptions): string {
  const tenants = [TENANT, ...moreTenants]
    .map(
      name => `- tenant:
    name: ${name}
${(name === TENANT ? tenantOptions : moreTenantOptions).map(line => `    ${line}\n`).join('')}    source:
      ${CONNECTION}:
        config-projects: [${configProject}]
        untrusted-projects: [${projects.map(each => (projectOptions === undefined ? each : `{${each}: ${projectOptions}}`)).join(', ')}]
${far.length === 0 ? '' : `      ${FAR}: {untrusted-projects: [${far.join(', ')}]}\n`}`,
    )
    .join('');
  return tenantStanzas + tenants;
}
