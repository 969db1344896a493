/**
 * Every route of the HTTP API, described: where it is, what may be asked, what it answers. The OpenAPI description is made from
 * this table; tests hold it against the routes that are registered, and each answer of a running service against it.
 */
import { buildSchema, buildsetSchema } from './builds.ts';
import { componentsSchema, WISHES, wishSchema } from './components.ts';
import { connectionsSchema } from './connections.ts';
import { delaysSchema } from './delays.ts';
import { explanationSchema } from './explanation.ts';
import { finishedItemSchema, liveItemSchema } from './live-item.ts';
import { livePipelineSchema, liveTenantSchema } from './live-view.ts';
import { QUERIES, type QueryTable } from './queries.ts';
import { document, flag, json, oneOf, optional, type Schema, text } from './schema.ts';
import {
  aliveSchema,
  configErrorsSchema,
  decisionsSchema,
  healthSchema,
  indexSchema,
  infoSchema,
  jobsSchema,
  pipelinesSchema,
  projectsSchema,
  refusalSchema,
  tenantsSchema,
  traceSchema,
} from './service.ts';
import { statusItemSchema, statusSchema } from './status-schema.ts';

/** Documents with a name of their own in the description. */
export const DOCUMENTS = {
  Alive: aliveSchema,
  Build: buildSchema,
  Buildset: buildsetSchema,
  Components: componentsSchema,
  ConfigErrors: configErrorsSchema,
  Connections: connectionsSchema,
  Decisions: decisionsSchema,
  Delays: delaysSchema,
  Explanation: explanationSchema,
  FinishedItem: finishedItemSchema,
  Health: healthSchema,
  Index: indexSchema,
  Info: infoSchema,
  Item: liveItemSchema,
  Jobs: jobsSchema,
  LivePipeline: livePipelineSchema,
  LiveTenant: liveTenantSchema,
  Pipelines: pipelinesSchema,
  Projects: projectsSchema,
  Refusal: refusalSchema,
  Status: statusSchema,
  StatusItem: statusItemSchema,
  Tenants: tenantsSchema,
  Trace: traceSchema,
  Wish: wishSchema,
} as const satisfies { readonly [name: string]: Schema };

type DocumentName = keyof typeof DOCUMENTS;

/** A named document, a list of one, a schema of its own, or a media type that is not JSON. */
export type Body =
  | { readonly document: DocumentName }
  | { readonly listOf: DocumentName }
  | { readonly schema: Schema }
  | { readonly media: readonly string[] };

export interface RouteDescription {
  readonly method: 'get' | 'post';
  /** With `{parameters}`; those of {@link PATH_PARAMETERS}. */
  readonly path: string;
  readonly summary: string;
  readonly query?: QueryTable;
  readonly headers?: { readonly [name: string]: string };
  /** Of the request. */
  readonly body?: Body;
  /** By status. */
  readonly answers: { readonly [status: number]: Body };
  /** Refusals besides 500 and 503, which anything may be answered with. */
  readonly refusals: readonly number[];
  /** It changes something: see "Who may change something". */
  readonly needsToken?: true;
}

/** What the parts of a path in braces are. */
export const PATH_PARAMETERS: {
  readonly [name: string]: { readonly description: string; readonly schema: Schema };
} = {
  tenant: { description: 'Name of a tenant', schema: text() },
  pipeline: { description: 'Name of a pipeline', schema: text() },
  uuid: { description: 'Of an item, build or buildset: 32 hexadecimal digits', schema: text() },
  change: { description: 'Id, id with patchset, or ref; may hold slashes as they are', schema: text() },
  project: { description: 'Name of a project; may hold slashes as they are', schema: text() },
  id: { description: 'Of a component, such as executor-4', schema: text() },
  wish: { description: 'What is wanted of it', schema: oneOf([...WISHES.keys()]) },
  name: { description: 'Name of a connection', schema: text() },
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
  refusals: [...(path.includes('{') ? [400, 404] : []), ...(more.query === undefined ? [] : [400])],
  ...more,
});

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
  read(`${TENANT}/info`, 'About the service, with the tenant', { document: 'Info' }),
  read(`${TENANT}/status`, 'What is in the queues', { document: 'Status' }),
  read(`${TENANT}/status/change/{change}`, 'The items of one change', { listOf: 'StatusItem' }),
  read(
    `${TENANT}/events`,
    'Live stream of the documents LiveTenant, LivePipeline and Item',
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
  read(`${TENANT}/projects`, 'Projects', { document: 'Projects' }),
  read(`${TENANT}/jobs`, 'Jobs by name', { document: 'Jobs' }),
  read(`${TENANT}/config-errors`, 'Mistakes in the configuration', { document: 'ConfigErrors' }),
  read(
    `${TENANT}/items`,
    'Items that left, newest first',
    { listOf: 'FinishedItem' },
    {
      query: QUERIES.items,
    },
  ),
  read(`${TENANT}/item/{uuid}`, 'One item, live or finished', { document: 'Item' }),
  read(`${TENANT}/item/{uuid}/trace`, 'Its spans as OTLP/JSON', { document: 'Trace' }),
  read(`${TENANT}/item/{uuid}/explain`, 'Where its time went', { document: 'Explanation' }),
  read(
    `${TENANT}/changes/{change}/decisions`,
    'Every decision about a change',
    {
      document: 'Decisions',
    },
    { query: QUERIES.decisions },
  ),
  read(`${TENANT}/builds`, 'Builds, newest first', { listOf: 'Build' }, { query: QUERIES.builds }),
  read(`${TENANT}/build/{uuid}`, 'One build, running or finished', { document: 'Build' }),
  read(
    `${TENANT}/build/{uuid}/log`,
    'A piece of its log',
    { media: ['text/plain'] },
    {
      query: QUERIES.log,
      refusals: [400, 404, 410],
      headers: {
        'X-Next-Offset': 'Where the next piece begins',
        'X-Complete': 'true: nothing will follow this piece',
      },
    },
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
  read(`${TENANT}/badge`, 'A picture for a README', { media: ['image/svg+xml'] }, { query: QUERIES.badge }),
];

const OTLP = ['application/x-protobuf', 'application/json'];

const CHANGE: readonly RouteDescription[] = [
  {
    method: 'post',
    path: '/api/components/{id}/{wish}',
    summary: 'Asks something of a component; it obeys in its own time',
    body: { schema: document({}) },
    answers: { 202: { document: 'Wish' } },
    refusals: [400, 401, 403, 404, 415],
    needsToken: true,
  },
  {
    method: 'post',
    path: `${TENANT}/project/{project}/dequeue`,
    summary: 'Takes a change out of a pipeline',
    body: {
      schema: document({ pipeline: text(), change: optional(text()), ref: optional(text()) }),
    },
    answers: { 200: { schema: flag('true: it was asked for') } },
    refusals: [400, 401, 403, 404, 415],
    needsToken: true,
  },
  {
    method: 'post',
    path: '/api/otlp/v1/traces',
    summary: 'Takes spans of others: OTLP over HTTP. A refusal of what was sent is a google.rpc.Status',
    body: { media: OTLP },
    answers: { 200: { media: OTLP }, 400: { media: OTLP }, 413: { media: OTLP }, 415: { media: OTLP } },
    refusals: [401, 403],
    needsToken: true,
  },
  {
    method: 'post',
    path: '/api/connection/{name}/payload',
    summary: 'Webhook of a code host; its driver says what it takes and how it is signed',
    body: { schema: json() },
    answers: {
      200: { schema: document({ outcome: oneOf(['stored', 'duplicate']), delivery: text() }) },
      202: { schema: document({ outcome: oneOf(['ignored']), reason: text() }) },
    },
    refusals: [400, 401, 404, 408, 413, 415, 429],
  },
];

export const ROUTES: readonly RouteDescription[] = [...READ, ...CHANGE];
