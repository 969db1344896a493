/**
 * Which page an address names: read by the browser, which draws it, and by the service, which answers 404 where there is none. Pure.
 *
 *     /                        the first tenant
 *     /t/<tenant>[/status]     its pipelines, and what finished
 *     /t/<tenant>/<list>       see {@link LISTS}
 *     /t/<tenant>/<kind>/<id>  one item, buildset, build, pipeline, job or project
 */

/** Pages of a tenant that take no name, by the last part of their address. */
const LISTS = {
  '': 'board',
  status: 'board',
  builds: 'builds',
  buildsets: 'buildsets',
  jobs: 'jobs',
  projects: 'projects',
  queues: 'queues',
  delays: 'delays',
  night: 'night',
  nodes: 'nodes',
  labels: 'labels',
  autoholds: 'autoholds',
  semaphores: 'semaphores',
  components: 'components',
  'config-errors': 'errors',
  'trace-health': 'trace-health',
} as const;

type ListPage = (typeof LISTS)[keyof typeof LISTS];

/** `none`: the start page, which shows the first tenant. `unknown`: nothing has this address. */
export type Place =
  | { readonly page: 'none'; readonly tenant?: undefined }
  | { readonly page: ListPage | 'unknown'; readonly tenant: string }
  | { readonly page: 'item' | 'build' | 'buildset'; readonly tenant: string; readonly uuid: string }
  | { readonly page: 'pipeline' | 'job' | 'project'; readonly tenant: string; readonly name: string };

/** @param path below the path that the service is published at, as it is in the address. */
export function placeOf(path: string): Place {
  const [, named, rest = ''] = /^\/t\/([^/]+)(.*)$/.exec(path) ?? [];
  if (named === undefined) return { page: 'none' };
  const tenant = decoded(named);
  if (tenant === undefined) return { page: 'unknown', tenant: named };
  const list = rest.replace(/^\//, '').replace(/\/$/, '');
  if (isList(list)) return { page: LISTS[list], tenant };
  const [, kind, encoded = ''] = /^([a-z-]+)\/(.+)$/.exec(list) ?? [];
  const name = decoded(encoded);
  if (name === undefined) return { page: 'unknown', tenant };
  switch (kind) {
    case 'item':
    case 'build':
    case 'buildset':
      return /^[0-9a-f]{32}$/.test(name) ? { page: kind, tenant, uuid: name } : { page: 'unknown', tenant };
    case 'pipeline':
    case 'job':
    case 'project':
      return { page: kind, tenant, name };
    default:
      return { page: 'unknown', tenant };
  }
}

function isList(name: string): name is keyof typeof LISTS {
  return Object.hasOwn(LISTS, name);
}

/** Undefined: it is not encoded as addresses are. */
function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
