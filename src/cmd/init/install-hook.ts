/** Installs the hook of the git driver in a repository of this machine, with what the settings say about its connection. */
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { type HookInstallation, installPostReceiveHook } from '../../../drivers/git/install-hook.ts';
import { readOptions } from '../../../drivers/git/options.ts';
import { optionReader } from '../../lib/option-reader.ts';
import type { Secret } from '../../lib/secret.ts';
import { projectKey } from '../../model/project.ts';
import type { Environment } from '../../settings/interpolate.ts';
import { readSections } from '../../settings/read-settings.ts';
import type { ConnectionSection, SchedulerSettings } from '../../settings/settings.ts';
import { type Refused, refused } from '../commands/refused.ts';
import { readTenants } from '../service/read-tenants.ts';
import { hookUrl } from './hook-url.ts';
import { type PlacedProject, projectsAt } from './project-of-path.ts';

/** What a person asked for. */
export interface HookQuestion {
  readonly repository: string;
  readonly config: string;
  /** Undefined: the one below whose directory the repository is. */
  readonly connection: string | undefined;
  /** Undefined: by its path below `baseurl`. */
  readonly project: string | undefined;
  /** Address of the web; undefined: on this machine. */
  readonly url: string | undefined;
  readonly environment: Environment;
}

/** What became of it. */
export interface InstalledHook extends PlacedProject {
  readonly kind: 'hook';
  readonly installation: HookInstallation;
  readonly url: string;
  /** False: no tenant has the project, so nothing will come of its pushes. Undefined: the tenant file cannot be read here. */
  readonly inTenant: boolean | undefined;
  readonly tenantFile: string | undefined;
}

interface GitConnection {
  readonly connection: string;
  readonly baseurl: string;
  readonly token: Secret | undefined;
}

/** @throws Error where the repository cannot be written. */
export async function installHook(question: HookQuestion): Promise<InstalledHook | Refused> {
  const { config, environment } = question;
  const read = readSections(config, environment, { wanted: ['scheduler', 'web', 'connections'] });
  if (read.kind === 'invalid') return refused(read.errors.join('\nerror: '));
  const { scheduler, web, connections } = read.settings;
  const place = await placeOf(question, connections.flatMap(gitConnectionOf));
  if (place.kind === 'refused') return place;
  const { connection, project, token } = place;
  if (token === undefined)
    return refused(
      `[connection ${connection}] of ${config} has no webhook_token, with which hooks sign; add one, e.g. of openssl rand -hex 32, and restart the service`,
    );
  const url =
    question.url === undefined
      ? hookUrl(web, connection)
      : `${question.url.replace(/\/+$/, '')}/api/connection/${encodeURIComponent(connection)}/payload`;
  const installation = await installPostReceiveHook(path.resolve(question.repository), {
    url,
    token,
    project,
  });
  const inTenant = await isInTenant(scheduler, connections, place);
  return {
    kind: 'hook',
    installation,
    connection,
    project,
    url,
    inTenant,
    tenantFile: scheduler.tenantConfig,
  };
}

/** Mistakes in other options are for `config-check`. */
function gitConnectionOf(section: ConnectionSection): readonly GitConnection[] {
  if (section.driver !== 'git') return [];
  const { connection } = section;
  const options = readOptions(connection, optionReader(section));
  return options === undefined ? [] : [{ connection, baseurl: options.baseurl, token: options.webhookToken }];
}

type Place = PlacedProject & { readonly kind: 'place'; readonly token: Secret | undefined };

async function placeOf(
  question: HookQuestion,
  connections: readonly GitConnection[],
): Promise<Place | Refused> {
  const { config, project, repository } = question;
  const wanted = connections.filter(
    ({ connection }) => question.connection === undefined || connection === question.connection,
  );
  const [only, ...others] = wanted;
  if (only === undefined) {
    const names = connections.map(({ connection }) => connection).join(', ') || 'none';
    return refused(`${config} has no such connection of the git driver; there are: ${names}`);
  }
  if (project !== undefined) {
    if (others.length > 0) return refused('name the connection of the project with --connection');
    return { kind: 'place', connection: only.connection, project, token: only.token };
  }
  const places = projectsAt(path.resolve(repository), wanted);
  const found = places.length > 0 ? places : projectsAt(await realPathOf(repository), wanted);
  const [place, ...more] = found;
  if (place === undefined) {
    const bases = wanted.map(({ connection, baseurl }) => `${baseurl} (${connection})`).join(', ');
    return refused(
      `${repository} is not below the baseurl of a connection: ${bases}; name its project with --project`,
    );
  }
  if (more.length > 0) return refused(`several connections have ${repository}; choose with --connection`);
  return { kind: 'place', ...place, token: wanted.find(each => each.connection === place.connection)?.token };
}

/** Through links; as it is where it does not exist, which is said later. */
async function realPathOf(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return path.resolve(file);
    throw error;
  }
}

async function isInTenant(
  { tenantConfig, tenantConfigIsScript, ansible }: SchedulerSettings,
  connections: readonly ConnectionSection[],
  place: PlacedProject,
): Promise<boolean | undefined> {
  if (tenantConfig === undefined || tenantConfigIsScript === true) return undefined;
  const hosts = new Map(connections.map(section => [section.connection, hostOf(section)]));
  const read = await readTenants(tenantConfig, false, hosts, ansible);
  if (read.kind === 'invalid') return undefined;
  const key = projectKey({ connection: place.connection, name: place.project });
  return read.tenants.some(tenant => tenant.projects.some(each => each.project === key));
}

function hostOf({ connection, options }: ConnectionSection): string {
  return options.get('canonical_hostname')?.value ?? connection;
}
