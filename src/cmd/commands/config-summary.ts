/** Summary of a configuration as plain data: printed by `config-check-text.ts` and by `config-check --json`. */
import type { Layout } from '../../layout/model/layout.ts';
import type { Tenant } from '../../model/layout.ts';
import { publicRoot, type Settings } from '../../settings/settings.ts';
import type { CheckedConfig } from './check-config.ts';

/** Its names are part of the output of `--json`. */
export interface ConfigSummary {
  /** `web`, `state`, ... → its setting, as text for people. */
  readonly service: { readonly [name: string]: string };
  readonly connections: readonly { readonly name: string; readonly driver: string }[];
  readonly tenants: readonly TenantSummary[];
}

/** Projects are written `<connection>/<name>`. */
export interface TenantSummary {
  readonly name: string;
  readonly configProjects: readonly string[];
  readonly projects: readonly string[];
  /** Absent: the projects' own configuration was not read. */
  readonly layout?: {
    readonly pipelines: readonly { readonly name: string; readonly manager: string }[];
    readonly jobs: readonly string[];
    readonly queues: readonly string[];
    /** Projects without a job in any pipeline. */
    readonly idleProjects: readonly string[];
  };
}

/** @returns undefined when the settings file is invalid. An invalid tenant file gives no tenants. */
export function summaryOf({ settings, tenants, layouts }: CheckedConfig): ConfigSummary | undefined {
  if (settings === undefined) return undefined;
  return {
    service: serviceFacts(settings),
    connections: settings.connections.map(({ connection, driver }) => ({ name: connection, driver })),
    tenants: tenants.map(tenant => tenantSummary(tenant, layouts.get(tenant.name))),
  };
}

function serviceFacts({
  web,
  scheduler,
  store,
  tracing,
  executor,
  merger,
}: Settings): ConfigSummary['service'] {
  return {
    web: publicRoot(web),
    state: scheduler.stateDir,
    store: storeText(store),
    tenants: tenantsText(scheduler),
    mirrors: merger.gitDir,
    executor: `${executor.maxBuilds} builds at a time, sandbox ${executor.sandbox}${executor.allowUnsandboxed ? ' (or none, if it does not work)' : ''}${executor.allowHostNetwork ? ', host network for jobs that ask for it' : ''}`,
    tracing:
      tracing.kind === 'off' ? `off: ${tracing.why}` : `to ${tracing.endpoint} as ${tracing.serviceName}`,
  };
}

function tenantsText({ tenantConfig, tenantConfigIsScript }: Settings['scheduler']): string {
  if (tenantConfig === undefined) return 'no tenant file: no scheduler can run with these settings';
  return tenantConfigIsScript === true ? `the output of ${tenantConfig}` : tenantConfig;
}

function storeText(store: Settings['store']): string {
  if (store.kind === 'embedded') return `embedded, ${store.path}`;
  const hosts = store.hosts.map(({ host, port }) =>
    host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`,
  );
  const guarded = [store.tls === undefined ? [] : ['TLS'], store.auth === undefined ? [] : ['digest']].flat();
  return `ZooKeeper at ${hosts.join(', ')}, ${store.root} (${guarded.join(' and ') || 'neither TLS nor authentication'})`;
}

function tenantSummary({ name, projects }: Tenant, layout: Layout | undefined): TenantSummary {
  const names = (trusted: boolean) =>
    projects.filter(each => each.trusted === trusted).map(({ project }) => project);
  const summary = { name, configProjects: names(true), projects: names(false) };
  if (layout === undefined) return summary;
  return {
    ...summary,
    layout: {
      pipelines: [...layout.pipelines.values()].map(pipeline => ({
        name: pipeline.name,
        manager: pipeline.manager,
      })),
      jobs: [...layout.jobs.keys()],
      queues: [...layout.queues.keys()],
      idleProjects: [...layout.projects.values()].flatMap(({ project, variants, broken }) =>
        variants.length + broken.length === 0 ? [project] : [],
      ),
    },
  };
}
