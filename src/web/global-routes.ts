/** What belongs to no tenant, below `/api`: the index, the connections, the tenants, and what a client has to know to sign in. */
import type { Request, Router } from 'express';
import { connectionsDocument } from '../api/connections.ts';
import type { TenantsDocument } from '../api/service.ts';
import type { TenantSnapshot } from '../api/tenant-snapshot.ts';
import { type Answer, answering, jsonAnswer, send } from './answer.ts';
import { type Authentication, callerOf } from './auth/caller.ts';
import { hasPrivateTenants, mayRead } from './auth/permission.ts';
import { authorizationsRoute } from './authorization-routes.ts';
import type { WebDeps } from './deps.ts';
import { infoJson } from './info-json.ts';
import { liveItems } from './tenant-access.ts';

type GlobalDeps = WebDeps & { readonly auth: Authentication };

/** @param router of `/api`. */
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

function tenantJson(name: string, snapshot: TenantSnapshot | undefined): TenantsDocument {
  if (snapshot === undefined) return [];
  const queue = liveItems(snapshot)
    .filter(item => item.role === 'live')
    .toArray().length;
  return [{ name, projects: snapshot.projects.filter(project => !project.trusted).length, queue }];
}
