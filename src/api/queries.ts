/**
 * The query parameters of all routes. The web checks requests with these tables, and the OpenAPI description is generated from
 * them. Unknown parameters are refused, except by the live stream and the status, which ignore them.
 */
import { MAX_LIMIT, MAX_SKIP } from '../history/filters.ts';

/** Type and bounds of a query parameter. `texts` may be given several times. */
export type Parameter = { readonly description?: string } & (
  | { readonly kind: 'text' | 'texts' | 'boolean' }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number; readonly default?: number }
);

/** Query parameters of one route, by name. */
export interface QueryTable {
  readonly [name: string]: Parameter;
}

const texts = { kind: 'texts' } as const;
const boolean = { kind: 'boolean' } as const;
const number = { kind: 'integer', min: 0, max: Number.MAX_SAFE_INTEGER } as const;
const skip = { kind: 'integer', min: 0, max: MAX_SKIP, description: 'Number of entries to skip' } as const;

const filter = {
  project: texts,
  pipeline: texts,
  change: texts,
  branch: texts,
  patchset: texts,
  ref: texts,
  newrev: texts,
  uuid: texts,
  result: texts,
  exclude_result: { ...texts, description: 'None of these results' },
  complete: boolean,
  idx_min: { ...number, description: 'Smallest _id' },
  idx_max: { ...number, description: 'Largest _id' },
  limit: { kind: 'integer', min: 1, max: MAX_LIMIT },
  skip,
} as const satisfies QueryTable;

const MAX_LOG_PIECE = 4 * 1024 * 1024;

/** Query parameters by route. `src/web/query.ts` reads requests with them; errors are answered with 400. */
export const QUERIES = {
  buildsets: filter,
  builds: {
    ...filter,
    job_name: texts,
    worker: texts,
    voting: boolean,
    final: boolean,
    held: { ...boolean, description: 'Its hosts are held now, or not' },
  },
  items: { limit: { kind: 'integer', min: 1, max: 100, default: 20 }, skip: { ...skip, default: 0 } },
  decisions: {
    project: { kind: 'text' },
    limit: { kind: 'integer', min: 1, max: 1000, default: 500 },
  },
  checks: {
    project: { kind: 'text', description: 'Name of its project at the code host; required' },
    connection: { kind: 'text', description: 'The code host, where several have such a project' },
    patchset: { kind: 'text', description: 'Only of this revision' },
  },
  delays: {
    since: {
      kind: 'text',
      description: 'A time such as 2026-11-20T12:00:00Z or a duration such as 24h, the default',
    },
    limit: { kind: 'integer', min: 0, max: 100, default: 40, description: 'Rows of the picture' },
    skip: { ...skip, default: 0, description: 'Rows to skip: the newest' },
  },
  compare: {
    with: {
      kind: 'text',
      description: 'Uuid of another item of the tenant; by default the last that passed',
    },
  },
  calibration: {
    since: { kind: 'text', description: 'A time or a duration, as of delays; by default 7d' },
  },
  log: {
    offset: { ...number, default: 0, description: 'First byte' },
    limit: { kind: 'integer', min: 1, max: MAX_LOG_PIECE, default: 256 * 1024, description: 'Bytes' },
  },
  status: {
    pipeline: { kind: 'text', description: 'Only this pipeline' },
    limit: {
      kind: 'integer',
      min: 1,
      max: 1000,
      default: 100,
      description: 'Items of each pipeline. With none of these three all items are listed',
    },
    skip: {
      kind: 'integer',
      min: 0,
      max: MAX_SKIP,
      default: 0,
      description: 'Items of each pipeline to skip',
    },
  },
  configErrors: {
    project: { kind: 'text' },
    branch: { kind: 'text' },
    severity: { kind: 'text', description: 'error or warning' },
    name: { kind: 'text', description: 'Code' },
    limit: { kind: 'integer', min: 1, max: MAX_LIMIT, description: 'Of those that fit; all by default' },
    skip: { ...skip, default: 0 },
  },
  events: {
    'last-event-id': {
      kind: 'text',
      description: 'As the header Last-Event-ID, for readers that cannot send it',
    },
  },
  badge: { project: texts, pipeline: texts, branch: texts },
} as const satisfies { readonly [route: string]: QueryTable };
