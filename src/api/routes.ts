/**
 * Every route of the HTTP API: path, parameters, answers. The OpenAPI description is generated from this table; tests compare it
 * with the registered routes and with the answers of a running service.
 *
 * Map of this room:
 *
 *     schema.ts                       builders of JSON schemas; `Document<typeof schema>` is the type of a document
 *     routes.ts (operator-routes.ts), queries.ts     the tables of routes and of query parameters; openapi.ts: the OpenAPI description from both
 *     live-item.ts (live-job.ts), live-view.ts (halts.ts)    documents of the live stream: item, pipeline, tenant
 *     status-schema.ts, status.ts     Zuul's status document, from the same facts as live-item.ts
 *     act-cost.ts, builds.ts (build-schema.ts, artifacts.ts), tests.ts, delays.ts, forecast.ts, explanation.ts (withheld-schema.ts), comparison.ts, frozen-jobs.ts (frozen-jobs-schema.ts), job-statistics.ts, described.ts, components.ts, connections.ts, semaphores.ts, trace-health.ts, service.ts    one document, or a few small ones, each
 *     change-checks-schema.ts, change-checks.ts    runs and results in the form of Gerrit's Checks tab
 *     tenant-snapshot.ts              the facts about a tenant that documents are encoded from
 *     failing-reasons.ts              why an item will not merge
 *     nodes.ts, node-waits.ts         hosts, labels, and who waits for hosts
 *     holds.ts                        requests to hold the hosts of failed builds
 *
 * Each document has one schema and one encoder, here. `src/web` serves them; the command line and the page read them. No encoder
 * reads a clock or the store, except for what it is passed.
 */
import { buildSchema, buildsetSchema } from './build-schema.ts';
import { changeChecksSchema } from './change-checks-schema.ts';
import { comparisonSchema } from './comparison.ts';
import { componentsSchema, requestedStateSchema, STATE_ACTIONS } from './components.ts';
import { connectionsSchema } from './connections.ts';
import { delaysSchema } from './delays.ts';
import { jobSchema, jobsSchema, projectSchema } from './described.ts';
import { explanationSchema } from './explanation.ts';
import { calibrationSchema, forecastSchema } from './forecast.ts';
import { frozenJobSchema, frozenJobsSchema } from './frozen-jobs-schema.ts';
import { holdSchema } from './holds.ts';
import { jobStatisticsSchema, jobsStatisticsSchema } from './job-statistics.ts';
import { finishedItemSchema, liveItemSchema } from './live-item.ts';
import { livePipelineSchema, liveTenantSchema } from './live-view.ts';
import { HOST_ACTIONS, labelsSchema, nodesetRequestsSchema, nodesSchema } from './nodes.ts';
import { OPERATOR_ROUTES } from './operator-routes.ts';
import { QUERIES, type QueryTable } from './queries.ts';
import { document, flag, json, oneOf, optional, type Schema, text } from './schema.ts';
import { semaphoresSchema } from './semaphores.ts';
import {
  aliveSchema,
  authorizationsSchema,
  configErrorsSchema,
  decisionsSchema,
  healthSchema,
  indexSchema,
  infoSchema,
  pipelinesSchema,
  projectsSchema,
  refusalSchema,
  systemEventsSchema,
  tenantStatusSchema,
  tenantsSchema,
  traceSchema,
} from './service.ts';
import { statusItemSchema, statusSchema } from './status-schema.ts';
import { testsSchema } from './tests.ts';
import { traceHealthSchema } from './trace-health.ts';

/** Named schemas of the OpenAPI description (`#/components/schemas/<name>`), each from the module of its document. */
export const DOCUMENTS = {
  Alive: aliveSchema,
  Authorizations: authorizationsSchema,
  Build: buildSchema,
  Buildset: buildsetSchema,
  Calibration: calibrationSchema,
  ChangeChecks: changeChecksSchema,
  Components: componentsSchema,
  ConfigErrors: configErrorsSchema,
  Connections: connectionsSchema,
  Decisions: decisionsSchema,
  Comparison: comparisonSchema,
  Delays: delaysSchema,
  Explanation: explanationSchema,
  FinishedItem: finishedItemSchema,
  Forecast: forecastSchema,
  FrozenJob: frozenJobSchema,
  FrozenJobs: frozenJobsSchema,
  Health: healthSchema,
  Index: indexSchema,
  Info: infoSchema,
  Item: liveItemSchema,
  Job: jobSchema,
  JobStatistics: jobStatisticsSchema,
  Jobs: jobsSchema,
  JobsStatistics: jobsStatisticsSchema,
  LivePipeline: livePipelineSchema,
  LiveTenant: liveTenantSchema,
  Labels: labelsSchema,
  Hold: holdSchema,
  Nodes: nodesSchema,
  NodesetRequests: nodesetRequestsSchema,
  Pipelines: pipelinesSchema,
  Project: projectSchema,
  Projects: projectsSchema,
  Refusal: refusalSchema,
  Semaphores: semaphoresSchema,
  Status: statusSchema,
  StatusItem: statusItemSchema,
  SystemEvents: systemEventsSchema,
  TenantStatus: tenantStatusSchema,
  Tenants: tenantsSchema,
  Tests: testsSchema,
  Trace: traceSchema,
  RequestedState: requestedStateSchema,
  TraceHealth: traceHealthSchema,
} as const satisfies { readonly [name: string]: Schema };

type DocumentName = keyof typeof DOCUMENTS;

/** A body: a named document, a list of it, an unnamed schema, or media types other than JSON. */
export type Body =
  | { readonly document: DocumentName }
  | { readonly listOf: DocumentName }
  | { readonly schema: Schema }
  | { readonly media: readonly string[] };

/** One operation of the API. */
export interface RouteDescription {
  readonly method: 'get' | 'post' | 'delete';
  /** With `{parameters}`; those of {@link PATH_PARAMETERS}. */
  readonly path: string;
  readonly summary: string;
  /** Parameters of the query; absent: the route reads none. */
  readonly query?: QueryTable;
  /** Headers of the answer by name, each with its meaning. */
  readonly headers?: { readonly [name: string]: string };
  /** Body of the request. */
  readonly body?: Body;
  /** Bodies of answers, by status. */
  readonly answers: { readonly [status: number]: Body };
  /** Statuses of refusals; 500 and 503 are possible for every route. */
  readonly refusals: readonly number[];
  /**
   * Who may read: with `access-rules` in the tenant file, only whom they fit. `tenant`: of the tenant; `root`: of `api-root`. Absent: all, or
   * see `needsToken`.
   */
  readonly guarded?: 'tenant' | 'root';
  /** The route changes something, or is about the token: see "Who may change something" in `doc/reference/http-api.md`. */
  readonly needsToken?: true;
}

/** Parameters of paths, by the name in braces. */
export const PATH_PARAMETERS: {
  readonly [name: string]: { readonly description: string; readonly schema: Schema };
} = {
  tenant: { description: 'Name of a tenant', schema: text() },
  pipeline: { description: 'Name of a pipeline', schema: text() },
  uuid: { description: 'Uuid of an item, build or buildset: 32 hexadecimal digits', schema: text() },
  change: { description: 'Id, id with patchset, or ref; slashes need no encoding', schema: text() },
  branch: { description: 'Name of a branch; slashes need no encoding', schema: text() },
  job: { description: 'Name of a job', schema: text() },
  project: { description: 'Name of a project; slashes need no encoding', schema: text() },
  path: { description: 'Of a file below the log directory; slashes need no encoding', schema: text() },
  id: { description: 'Id of a component, such as executor-4, or of a hold request', schema: text() },
  action: { description: 'Requested action', schema: oneOf([...STATE_ACTIONS.keys()]) },
  name: { description: 'Name of a connection', schema: text() },
  node: { description: 'Name of a host', schema: text() },
  deed: { description: 'What is to be done', schema: oneOf(HOST_ACTIONS) },
};

const TENANT = '/api/tenant/{tenant}';
const read = (
  path: string,
  summary: string,
  body: Body,
  more: Partial<RouteDescription> = {},
): RouteDescription => ({
  method: 'get',
  path,
  summary,
  answers: { 200: body },
  ...more,
  ...guardOf(path),
  refusals: [
    ...(more.refusals ?? [
      ...(path.includes('{') ? [400, 404] : []),
      ...(more.query === undefined ? [] : [400]),
    ]),
    ...(guardOf(path).guarded === undefined ? [] : [401, 403]),
  ],
});

function guardOf(path: string): Pick<RouteDescription, 'guarded'> {
  if (path.startsWith(TENANT)) return { guarded: 'tenant' };
  const isOpen = path === '/api/info' || (!path.startsWith('/api') && path !== '/metrics');
  return isOpen ? {} : { guarded: 'root' };
}

const READ: readonly RouteDescription[] = [
  read('/health/live', 'The process answers', { document: 'Alive' }),
  read(
    '/health/ready',
    'All components work',
    { document: 'Health' },
    {
      answers: { 200: { document: 'Health' }, 503: { document: 'Health' } },
    },
  ),
  read('/metrics', 'Metrics of this process', {
    media: ['text/plain', 'application/openmetrics-text'],
  }),
  read('/openapi.yaml', 'This description', { media: ['application/yaml'] }),
  read('/openapi.json', 'This description as JSON', { schema: json() }),
  read('/api', 'The routes by name', { document: 'Index' }),
  read('/api/info', 'About the service', { document: 'Info' }),
  read('/api/connections', 'Connections', { document: 'Connections' }),
  read('/api/components', 'The processes of the installation', { document: 'Components' }),
  read('/api/tenants', 'Tenants', { document: 'Tenants' }),
  read(
    '/api/authorizations',
    'What the bearer of the token may do',
    { document: 'Authorizations' },
    { needsToken: true },
  ),
  read(
    `${TENANT}/authorizations`,
    'What the bearer of the token may do in the tenant',
    { document: 'Authorizations' },
    { needsToken: true },
  ),
  read(`${TENANT}/info`, 'About the service, with the tenant', { document: 'Info' }),
  read(`${TENANT}/status`, 'Items in the queues', { document: 'Status' }, { query: QUERIES.status }),
  read(`${TENANT}/status/change/{change}`, 'The items of one change', { listOf: 'StatusItem' }),
  read(
    `${TENANT}/events`,
    'Live stream of the documents LiveTenant, LivePipeline, Item and Forecast',
    {
      media: ['text/event-stream'],
    },
    { query: QUERIES.events },
  ),
  read(`${TENANT}/pipelines`, 'Pipelines', { document: 'Pipelines' }),
  read(
    `${TENANT}/pipeline/{pipeline}/delays`,
    'Where the time of a pipeline went',
    {
      document: 'Delays',
    },
    { query: QUERIES.delays },
  ),
  read(`${TENANT}/pipeline/{pipeline}/forecast`, 'When its items will probably leave', {
    document: 'Forecast',
  }),
  read(
    `${TENANT}/pipeline/{pipeline}/forecast/calibration`,
    'How right forecasts were',
    { document: 'Calibration' },
    { query: QUERIES.calibration },
  ),
  read(
    `${TENANT}/pipeline/{pipeline}/project/{project}/branch/{branch}/freeze-jobs`,
    'The jobs that a branch would run',
    { document: 'FrozenJobs' },
  ),
  read(
    `${TENANT}/pipeline/{pipeline}/project/{project}/branch/{branch}/freeze-job/{job}`,
    'One of them, with all that it inherits',
    { document: 'FrozenJob' },
  ),
  read(`${TENANT}/projects`, 'Projects', { document: 'Projects' }),
  read(`${TENANT}/jobs`, 'Jobs by name', { document: 'Jobs' }),
  read(`${TENANT}/job/{job}`, 'The variants of a job, as configured', { document: 'Job' }),
  read(`${TENANT}/project/{project}`, 'The stanzas of a project, as configured', { document: 'Project' }),
  read(`${TENANT}/jobs/statistics`, 'How its jobs did lately', { document: 'JobsStatistics' }),
  read(`${TENANT}/job/{job}/statistics`, 'How one job did lately', { document: 'JobStatistics' }),
  read(`${TENANT}/semaphores`, 'Semaphores, with who holds them and who waits', { document: 'Semaphores' }),
  read(`${TENANT}/trace-health`, 'How whole the traces are that are sent', { document: 'TraceHealth' }),
  read(`${TENANT}/labels`, 'Labels that executors and hosts offer', { document: 'Labels' }),
  read(`${TENANT}/nodes`, 'Hosts that jobs run on over ssh', { document: 'Nodes' }),
  read(`${TENANT}/nodeset-requests`, 'Builds that wait for hosts or have them', {
    document: 'NodesetRequests',
  }),
  read(
    `${TENANT}/config-errors`,
    'Errors in the configuration',
    { document: 'ConfigErrors' },
    { query: QUERIES.configErrors },
  ),
  read(`${TENANT}/system-events`, 'When the tenant was configured last', { document: 'SystemEvents' }),
  read(`${TENANT}/tenant-status`, 'How many errors the configuration has', { document: 'TenantStatus' }),
  read(
    `${TENANT}/items`,
    'Finished items, newest first',
    { listOf: 'FinishedItem' },
    {
      query: QUERIES.items,
    },
  ),
  read(`${TENANT}/item/{uuid}`, 'One item, live or finished', { document: 'Item' }),
  read(`${TENANT}/item/{uuid}/trace`, 'Its spans as OTLP/JSON', { document: 'Trace' }),
  read(`${TENANT}/item/{uuid}/explain`, 'Where its time went', { document: 'Explanation' }),
  read(
    `${TENANT}/item/{uuid}/compare`,
    'The same beside another item, and beside what is usual',
    { document: 'Comparison' },
    { query: QUERIES.compare },
  ),
  read(
    `${TENANT}/changes/{change}/decisions`,
    'Decisions about a change',
    {
      document: 'Decisions',
    },
    { query: QUERIES.decisions },
  ),
  read(
    `${TENANT}/changes/{change}/checks`,
    "Runs of a change, as Gerrit's Checks tab shows them",
    {
      document: 'ChangeChecks',
    },
    { query: QUERIES.checks },
  ),
  read(`${TENANT}/builds`, 'Builds, newest first', { listOf: 'Build' }, { query: QUERIES.builds }),
  read(`${TENANT}/build/{uuid}`, 'One build, running or finished', { document: 'Build' }),
  read(`${TENANT}/build/{uuid}/tests`, 'How its tests went, and which failures are new', {
    document: 'Tests',
  }),
  read(
    `${TENANT}/build/{uuid}/log`,
    'A piece of its log',
    { media: ['text/plain'] },
    {
      query: QUERIES.log,
      refusals: [400, 404, 410],
      headers: {
        'X-Next-Offset': 'Offset of the next piece',
        'X-Complete': 'true: the log ends with this piece',
      },
    },
  ),
  read(`${TENANT}/build/{uuid}/logs`, 'A page with links to what it left', { media: ['text/html'] }),
  read(
    `${TENANT}/build/{uuid}/logs/{path}`,
    'A file that it left, or its log',
    { media: ['text/html', 'text/plain', 'application/json', 'application/octet-stream'] },
    { refusals: [400, 404] },
  ),
  read(
    `${TENANT}/console-stream`,
    "Zuul's WebSocket for the log of a build; any other request is refused",
    { media: ['text/plain'] },
    { answers: {}, refusals: [404, 426] },
  ),
  read(
    `${TENANT}/buildsets`,
    'Buildsets, newest first',
    { listOf: 'Buildset' },
    {
      query: QUERIES.buildsets,
    },
  ),
  read(`${TENANT}/buildset/{uuid}`, 'One buildset with its builds', { document: 'Buildset' }),
  read(`${TENANT}/key/{project}.pub`, "Public key for a project's secrets", { media: ['text/plain'] }),
  read(`${TENANT}/project-ssh-key/{project}.pub`, "Public ssh key of a project's jobs", {
    media: ['text/plain'],
  }),
  read(`${TENANT}/autohold`, 'Requests to hold the hosts of failed builds', { listOf: 'Hold' }),
  read(`${TENANT}/autohold/{id}`, 'One of them', { document: 'Hold' }),
  read(`${TENANT}/badge`, 'Badge for a README', { media: ['image/svg+xml'] }, { query: QUERIES.badge }),
];

const OTLP = ['application/x-protobuf', 'application/json'];

const CHANGE: readonly RouteDescription[] = [
  {
    method: 'post',
    path: '/api/components/{id}/{action}',
    summary: 'Requests a state of a component, which adopts it in its own time',
    body: { schema: document({}) },
    answers: { 202: { document: 'RequestedState' } },
    refusals: [400, 401, 403, 404, 415],
    needsToken: true,
  },
  {
    method: 'post',
    path: '/api/nodes/{node}/{deed}',
    summary: 'Takes a host of jobs out of service, or back',
    body: { schema: document({ reason: optional(text('Required to hold')) }) },
    answers: { 200: { schema: flag('true: done') } },
    refusals: [400, 401, 403, 404, 415],
    needsToken: true,
  },
  ...OPERATOR_ROUTES,
  {
    method: 'post',
    path: '/api/otlp/v1/traces',
    summary:
      'Takes spans of other programs: OTLP over HTTP. A refused body is answered with a google.rpc.Status',
    body: { media: OTLP },
    answers: { 200: { media: OTLP }, 400: { media: OTLP }, 413: { media: OTLP }, 415: { media: OTLP } },
    refusals: [401, 403],
    needsToken: true,
  },
  {
    method: 'post',
    path: '/api/connection/{name}/payload',
    summary: 'Webhook of a code host; body and signature depend on the driver',
    body: { schema: json() },
    answers: {
      200: { schema: document({ outcome: oneOf(['stored', 'duplicate']), delivery: text() }) },
      202: { schema: document({ outcome: oneOf(['ignored']), reason: text() }) },
    },
    refusals: [400, 401, 404, 408, 413, 415, 429],
  },
];

/** All routes, in the order of the description. */
export const ROUTES: readonly RouteDescription[] = [...READ, ...CHANGE];
