/** The current state: status, pipelines, semaphores, projects, jobs, configuration errors, under Zuul's paths and names. */
import type { Request, Router } from 'express';
import { connectionsDocument } from '../api/connections.ts';
import { QUERIES } from '../api/queries.ts';
import { semaphoresDocument } from '../api/semaphores.ts';
import {
  configErrorsDocument,
  configErrorsPage,
  type InfoDocument,
  type PipelinesDocument,
  projectsDocument,
  systemEventsDocument,
  type TenantsDocument,
} from '../api/service.ts';
import {
  itemsBehind,
  itemsOfPage,
  refId,
  type StatusContext,
  type StatusPage,
  statusItem,
  statusJson,
} from '../api/status.ts';
import type { TenantSnapshot } from '../api/tenant-snapshot.ts';
import { traceHealthDocument } from '../api/trace-health.ts';
import { toMilliseconds } from '../lib/clock.ts';
import { jsonInTurns } from '../lib/json-in-turns.ts';
import { nextTurn, turnIsUsed } from '../lib/turns.ts';
import { leadChange } from '../model/about-item.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { type Answer, answering, jsonAnswer, send } from './answer.ts';
import { type Authentication, callerOf } from './auth/caller.ts';
import { defaultRealm } from './auth/challenge.ts';
import { hasPrivateTenants, mayRead } from './auth/permission.ts';
import { authorizationsRoute } from './authorization-routes.ts';
import type { WebDeps } from './deps.ts';
import type { ExpectedJobDurations } from './expected-durations.ts';
import { readQuery } from './query.ts';
import { sharedMaking } from './shared-making.ts';
import { type FoundTenant, inTenant, liveItems } from './tenant-access.ts';

/** Zuul's status pages poll once a second, by the hundred. */
const SHARED_SECOND = 'public, max-age=1';

/** @param router of a tenant. @param expected for the estimates and remaining times that Zuul's clients show. */
export function addStatusRoutes(router: Router, deps: WebDeps, expected: ExpectedJobDurations): void {
  const whole = sharedMaking<Answer>();
  async function status({ name, snapshot }: FoundTenant, page: StatusPage | undefined): Promise<Answer> {
    const make = async () => {
      // It may have waited for others.
      const now = deps.snapshot(name) ?? snapshot;
      const context = await statusContext(deps, expected, now, itemsOfPage(now, page));
      const headers = {
        'Cache-Control': SHARED_SECOND,
        'Last-Modified': new Date(toMilliseconds(context.now)).toUTCString(),
      };
      const text = await jsonInTurns(await statusJson(now, context, page));
      return { kind: 'encoded', text, headers } as const;
    };
    return page === undefined ? whole(name, make) : make();
  }
  router.get(
    '/status',
    inTenant(deps, async (tenant, { query }) => {
      const page = readPage(query);
      return page?.kind === 'refused' ? page : status(tenant, page?.values);
    }),
  );
  router.get(
    '/status/change/*change',
    inTenant(deps, async (tenant, { parameter }) => {
      const wanted = parameter('change');
      const context = await statusContext(deps, expected, tenant.snapshot, liveItems(tenant.snapshot));
      return jsonAnswer(itemsOfChange(tenant.snapshot, wanted, context), { 'Cache-Control': SHARED_SECOND });
    }),
  );
  router.get(
    '/info',
    inTenant(deps, async tenant => jsonAnswer(infoJson(deps, tenant.name))),
  );
  router.get(
    '/config-errors',
    inTenant(deps, async ({ snapshot }, { query }) => {
      const read = readQuery(query, QUERIES.configErrors);
      if (read.kind === 'refused') return read;
      return jsonAnswer(configErrorsPage(configErrorsDocument(snapshot), read.values));
    }),
  );
  addConfigurationRoutes(router, deps);
  router.get(
    '/pipelines',
    inTenant(deps, async ({ snapshot }) => jsonAnswer(pipelinesJson(deps, snapshot))),
  );
  router.get(
    '/trace-health',
    inTenant(deps, async ({ snapshot }) => jsonAnswer(traceHealthDocument(snapshot.tracing?.sender ?? null))),
  );
  router.get(
    '/semaphores',
    inTenant(deps, async ({ name, snapshot }) => {
      const others = deps.tenants().filter(other => other !== name);
      const snapshots = others.flatMap(other => deps.snapshot(other) ?? []);
      return jsonAnswer(
        semaphoresDocument(snapshot, snapshots, { tenant: name, held: await deps.heldByPlaybooks(name) }),
      );
    }),
  );
  router.get(
    '/projects',
    inTenant(deps, async ({ snapshot }) => jsonAnswer(projectsDocument(snapshot))),
  );
}

/** What Zuul's page asks for besides: about the configuration in force. */
function addConfigurationRoutes(router: Router, deps: WebDeps): void {
  router.get(
    '/system-events',
    inTenant(deps, async ({ snapshot }) => jsonAnswer(systemEventsDocument(snapshot))),
  );
  router.get(
    '/tenant-status',
    inTenant(deps, async ({ snapshot }) =>
      jsonAnswer({ config_error_count: configErrorsDocument(snapshot).length }),
    ),
  );
}

type GlobalDeps = WebDeps & { readonly auth: Authentication };

/** Routes that belong to no tenant. */
export function addGlobalRoutes(router: Router, deps: GlobalDeps): void {
  router.get(
    '/',
    answering(async () => jsonAnswer(INDEX)),
  );
  router.get(
    '/info',
    answering(async () => jsonAnswer(infoJson(deps, null))),
  );
  router.get(
    '/connections',
    answering(async () => jsonAnswer(connectionsDocument(deps.connections(), deps.connectionReport))),
  );
  router.get('/authorizations', authorizationsRoute(deps.auth));
  router.get('/tenants', async (request, response) => send(response, await tenantsOf(deps, request)));
}

/** Those that the caller may read. */
async function tenantsOf(deps: GlobalDeps, request: Request): Promise<Answer> {
  const { auth } = deps;
  let shown = deps.tenants();
  if (hasPrivateTenants(auth.rules)) {
    const caller = await callerOf(auth, request);
    if (caller.kind === 'refused') return caller;
    shown = shown.filter(tenant => mayRead(auth.rules, caller, tenant));
  }
  return jsonAnswer(shown.flatMap(name => tenantJson(name, deps.snapshot(name))));
}

const INDEX = {
  openapi: '/openapi.yaml',
  info: '/api/info',
  connections: '/api/connections',
  tenants: '/api/tenants',
  components: '/api/components',
  authorizations: '/api/authorizations',
  tenant_authorizations: '/api/tenant/{tenant}/authorizations',
  tenant_info: '/api/tenant/{tenant}/info',
  status: '/api/tenant/{tenant}/status',
  status_change: '/api/tenant/{tenant}/status/change/{change}',
  jobs: '/api/tenant/{tenant}/jobs',
  jobs_statistics: '/api/tenant/{tenant}/jobs/statistics',
  job: '/api/tenant/{tenant}/job/{job}',
  job_statistics: '/api/tenant/{tenant}/job/{job}/statistics',
  projects: '/api/tenant/{tenant}/projects',
  project: '/api/tenant/{tenant}/project/{project}',
  pipelines: '/api/tenant/{tenant}/pipelines',
  semaphores: '/api/tenant/{tenant}/semaphores',
  trace_health: '/api/tenant/{tenant}/trace-health',
  nodes: '/api/tenant/{tenant}/nodes',
  labels: '/api/tenant/{tenant}/labels',
  nodeset_requests: '/api/tenant/{tenant}/nodeset-requests',
  delays: '/api/tenant/{tenant}/pipeline/{pipeline}/delays',
  forecast: '/api/tenant/{tenant}/pipeline/{pipeline}/forecast',
  forecast_calibration: '/api/tenant/{tenant}/pipeline/{pipeline}/forecast/calibration',
  project_freeze_jobs:
    '/api/tenant/{tenant}/pipeline/{pipeline}/project/{project}/branch/{branch}/freeze-jobs',
  project_freeze_job:
    '/api/tenant/{tenant}/pipeline/{pipeline}/project/{project}/branch/{branch}/freeze-job/{job}',
  console_stream: '/api/tenant/{tenant}/console-stream',
  builds: '/api/tenant/{tenant}/builds',
  build: '/api/tenant/{tenant}/build/{uuid}',
  build_log: '/api/tenant/{tenant}/build/{uuid}/log',
  build_logs: '/api/tenant/{tenant}/build/{uuid}/logs/{path}',
  buildsets: '/api/tenant/{tenant}/buildsets',
  buildset: '/api/tenant/{tenant}/buildset/{uuid}',
  badge: '/api/tenant/{tenant}/badge',
  key: '/api/tenant/{tenant}/key/{project}.pub',
  project_ssh_key: '/api/tenant/{tenant}/project-ssh-key/{project}.pub',
  config_errors: '/api/tenant/{tenant}/config-errors',
  tenant_status: '/api/tenant/{tenant}/tenant-status',
  system_events: '/api/tenant/{tenant}/system-events',
  items: '/api/tenant/{tenant}/items',
  item: '/api/tenant/{tenant}/item/{uuid}',
  item_trace: '/api/tenant/{tenant}/item/{uuid}/trace',
  item_explain: '/api/tenant/{tenant}/item/{uuid}/explain',
  decisions: '/api/tenant/{tenant}/changes/{change}/decisions',
  checks: '/api/tenant/{tenant}/changes/{change}/checks',
  events: '/api/tenant/{tenant}/events',
  payload: '/api/connection/{connection}/payload',
  otlp_traces: '/api/otlp/v1/traces',
};

/** Undefined: all. Clients of Zuul add parameters of their own, which are ignored as there. */
function readPage(query: URLSearchParams) {
  const own = [...query].filter(([name]) => Object.hasOwn(QUERIES.status, name));
  return own.length === 0 ? undefined : readQuery(new URLSearchParams(own), QUERIES.status);
}

/** @param items whose jobs are shown. */
async function statusContext(
  deps: WebDeps,
  expected: ExpectedJobDurations,
  snapshot: TenantSnapshot,
  items: Iterable<QueueItem>,
): Promise<StatusContext> {
  const durations = new Map<string, Map<string, number>>();
  for (const item of items) {
    if (turnIsUsed()) await nextTurn();
    const { project } = leadChange(item);
    const known = durations.get(project) ?? new Map<string, number>();
    durations.set(project, known);
    for (const [job, usual] of await expected.of(item)) known.set(job, usual);
  }
  return {
    now: deps.clock.now(),
    version: deps.version,
    root: deps.root(),
    traceUi: deps.traceUi(),
    canonicalNames: new Map(snapshot.projects.map(project => [project.project, project.canonicalName])),
    expected: durations,
  };
}

/** Items of a change, named by `id,patchset`, by its id alone, or by a ref. */
function itemsOfChange(snapshot: TenantSnapshot, wanted: string, context: StatusContext) {
  return snapshot.pipelines.flatMap(({ state }) =>
    state.queues.flatMap(queue => {
      const behind = itemsBehind(queue, state.items);
      return queue.items.flatMap(uuid => {
        const item = state.items.get(uuid);
        const fits = item?.changes.some(
          change =>
            refId(change) === wanted ||
            change.ref === wanted ||
            (change.kind === 'change' && change.id === wanted),
        );
        return item !== undefined && fits === true ? [statusItem(item, behind.get(uuid) ?? [], context)] : [];
      });
    }),
  );
}

function infoJson(deps: WebDeps, tenant: string | null): InfoDocument {
  return {
    info: {
      capabilities: { job_history: true, auth: authJson(deps.auth, tenant) },
      stats: { url: null, type: 'graphite', prefix: null },
      websocket_url: null,
      ...(tenant === null ? {} : { tenant }),
    },
    gatehouse: { version: deps.version, tracing: deps.traceUi() !== null },
  };
}

/** Realms and their token issuers, as Zuul's clients read them. */
function authJson(
  { realms, rules }: WebDeps['auth'],
  tenant: string | null,
): InfoDocument['info']['capabilities']['auth'] {
  const { realm: wanted, accessRules = [] } =
    (tenant === null ? rules.ofRoot() : rules.ofTenant(tenant)) ?? {};
  const sections = realms.map(({ settings }) => settings);
  return {
    realms: Object.fromEntries(
      sections.map(({ realm, authority, clientId, key }) => [
        realm,
        {
          authority,
          client_id: clientId,
          type: 'JWT',
          driver: key.kind,
          ...(key.kind === 'OpenIDConnect' ? { scope: key.scope, load_user_info: key.loadUserInfo } : {}),
        },
      ]),
    ),
    default_realm: sections.find(({ realm }) => realm === wanted)?.realm ?? defaultRealm(sections) ?? null,
    read_protected: accessRules.length > 0,
  };
}

function tenantJson(name: string, snapshot: TenantSnapshot | undefined): TenantsDocument {
  if (snapshot === undefined) return [];
  const queue = liveItems(snapshot)
    .filter(item => item.role === 'live')
    .toArray().length;
  return [{ name, projects: snapshot.projects.filter(project => !project.trusted).length, queue }];
}

function pipelinesJson(deps: WebDeps, snapshot: TenantSnapshot): PipelinesDocument {
  const drivers = new Map(deps.connections().map(connection => [connection.name, connection.driver]));
  return snapshot.pipelines.map(({ pipeline }) => ({
    name: pipeline.name,
    manager: pipeline.manager,
    triggers: pipeline.triggers.map(trigger => ({
      name: trigger.connection,
      driver: drivers.get(trigger.connection) ?? null,
    })),
  }));
}
