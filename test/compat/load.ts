/** Loads a case as a scheduler does: the tenant file, then the layout of each tenant. */
import type { DriverConfigLanguage } from '../../src/driver/driver.ts';
import { buildLayout } from '../../src/layout/build/build-layout.ts';
import type { Languages } from '../../src/layout/build/build-pipeline.ts';
import { parseCache } from '../../src/layout/stanzas/parse-cache.ts';
import { extraPathsOf, isConfigPath } from '../../src/layout/tenant/config-files.ts';
import { parseTenantFile } from '../../src/layout/tenant/tenant-file.ts';
import { type ConfigError, configErrorText } from '../../src/model/config-error.ts';
import type { Tenant } from '../../src/model/layout.ts';
import type { BranchConfig } from '../../src/model/merge.ts';
import { parseCommitId, projectIdOf } from '../../src/model/project.ts';
import type { CompatCase } from './fixtures.ts';

/** A tenant of a case, and why it does not load; no reason: it does. */
export interface Loaded {
  readonly name: string;
  readonly refusals: readonly string[];
}

/** Takes all configuration of a driver that we do not have. */
export const ANY_DRIVER: Pick<DriverConfigLanguage, 'parseTrigger' | 'parseRequirement' | 'parseReporter'> = {
  parseTrigger: value => ({ kind: 'ok', value }),
  parseRequirement: value => ({ kind: 'ok', value }),
  parseReporter: value => ({ kind: 'ok', value }),
};

/** @param languages of the connections there are. @returns one for each tenant; a mistake in their file refuses all of them. */
export function loadCase({ name, tenantFile, filesOf }: CompatCase, languages: Languages): readonly Loaded[] {
  const hosts = new Map(
    [...languages.keys()].map(connection => [connection, HOSTS[connection] ?? connection]),
  );
  const parsed = parseTenantFile(tenantFile, name, hosts);
  if (parsed.kind === 'invalid') {
    const refusals = parsed.errors.map(configErrorText);
    return (tenantFile.match(TENANT) ?? ['']).map(() => ({ name, refusals }));
  }
  return parsed.tenants.map(tenant => {
    const configs = tenant.projects.map(({ project }) => branchConfig(tenant, project, filesOf));
    const { errors } = buildLayout({ tenant, configs, languages, cache: parseCache() });
    return { name: `${name} ${tenant.name}`, refusals: errors.filter(isError).map(configErrorText) };
  });
}

/** In YAML, and in the JSON of single layouts. */
const TENANT = /^- tenant:|"tenant":/gm;

/** Canonical host names that the fixtures write. */
const HOSTS: { readonly [connection: string]: string } = {
  gerrit: 'review.example.com',
  review_gerrit: 'review.example.com',
  another_gerrit: 'another.example.com',
  github: 'github.com',
};

function isError({ severity }: ConfigError): boolean {
  return severity === 'error';
}

function branchConfig(
  tenant: Tenant,
  project: Tenant['projects'][number]['project'],
  filesOf: CompatCase['filesOf'],
): BranchConfig {
  const extra = extraPathsOf(tenant, project);
  const files = [...filesOf(projectIdOf(project).name)]
    .filter(([path]) => isConfigPath(path, extra))
    .map(([path, text]) => ({ path, text }));
  return { project, branch: 'master', commit: parseCommitId('1'.repeat(40)), files };
}
