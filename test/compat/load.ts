/** Loads a case as a scheduler does: the tenant file, then the layout of each tenant. */
import type { DriverConfigLanguage } from '../../src/driver/driver.ts';
import { buildLayout } from '../../src/layout/build/build-layout.ts';
import type { Languages } from '../../src/layout/build/build-pipeline.ts';
import type { Layout } from '../../src/layout/model/layout.ts';
import { parseCache } from '../../src/layout/stanzas/parse-cache.ts';
import { extraPathsOf, isConfigPath } from '../../src/layout/tenant/config-files.ts';
import { parseTenantFile } from '../../src/layout/tenant/tenant-file.ts';
import { type ConfigError, configErrorText } from '../../src/model/config-error.ts';
import type { Tenant } from '../../src/model/layout.ts';
import type { BranchConfig } from '../../src/model/merge.ts';
import { type ProjectKey, parseCommitId, projectIdOf } from '../../src/model/project.ts';
import type { CompatCase, FixtureConnection } from './fixtures.ts';

/** A tenant of a case, and why it does not load; no reason: it does. */
export interface Loaded {
  readonly name: string;
  /** Undefined: the file that has it could not be read. */
  readonly tenant: string | undefined;
  readonly layout: Layout | undefined;
  readonly refusals: readonly string[];
  /** All it lacks are names, and some of its repositories are not there. */
  readonly lacksRepositories: boolean;
}

/** Takes all configuration of a driver that we do not have. */
export const ANY_DRIVER: Pick<DriverConfigLanguage, 'parseTrigger' | 'parseRequirement' | 'parseReporter'> = {
  parseTrigger: value => ({ kind: 'ok', value }),
  parseRequirement: value => ({ kind: 'ok', value }),
  parseReporter: value => ({ kind: 'ok', value }),
};

/** @param languages of the connections there are. @returns one for each tenant; a mistake in their file refuses all of them. */
export function loadCase(
  { name, tenantFile, projects }: CompatCase,
  languages: Languages,
  connections: ReadonlyMap<string, FixtureConnection>,
): readonly Loaded[] {
  const hosts = new Map(
    [...languages.keys()].map(name => [name, connections.get(name)?.host ?? name] as const),
  );
  const parsed = parseTenantFile(tenantFile, name, hosts);
  if (parsed.kind === 'invalid') {
    const refusals = parsed.errors.map(configErrorText);
    return (tenantFile.match(TENANT) ?? ['']).map(() => ({
      name,
      tenant: undefined,
      layout: undefined,
      refusals,
      lacksRepositories: false,
    }));
  }
  return parsed.tenants.map(tenant => {
    const configs = tenant.projects.map(({ project }) => branchConfig(tenant, project, projects));
    const layout = buildLayout({ tenant, configs, languages, cache: parseCache() });
    const errors = layout.errors.filter(isError);
    const isWhole = tenant.projects.every(({ project }) => folderOf(project) in projects);
    return {
      name: `${name} ${tenant.name}`,
      tenant: tenant.name,
      layout,
      refusals: errors.map(configErrorText),
      lacksRepositories: !isWhole && errors.length > 0 && errors.every(({ code }) => NAMES.has(code)),
    };
  });
}

/** Codes of names that are defined nowhere. */
const NAMES = new Set([
  'job-not-defined',
  'unknown-nodeset',
  'unknown-project',
  'unknown-secret',
  'unknown-template',
]);

function folderOf(project: ProjectKey): string {
  return projectIdOf(project).name.replaceAll('/', '_');
}

/** In YAML, and in the JSON of single layouts. */
const TENANT = /^- tenant:|"tenant":/gm;

function isError({ severity }: ConfigError): boolean {
  return severity === 'error';
}

function branchConfig(tenant: Tenant, project: ProjectKey, projects: CompatCase['projects']): BranchConfig {
  const extra = extraPathsOf(tenant, project);
  const all = Object.entries(projects[folderOf(project)] ?? {});
  const ignored = all.flatMap(([path]) => (path.endsWith(IGNORE) ? [path.slice(0, -IGNORE.length)] : []));
  const files = all
    .filter(([path]) => isConfigPath(path, extra) && !ignored.some(folder => path.startsWith(folder)))
    .map(([path, text]) => ({ path, text }));
  return { project, branch: 'master', commit: parseCommitId('1'.repeat(40)), files };
}

/** Mergers leave out what is below a folder that holds such a file. */
const IGNORE = '.zuul.ignore';
