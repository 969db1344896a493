/** Addresses of pages and of the API, below the path the service is published at. */
import type { TenantsDocument } from '../../api/service.ts';
import { authorization, forgetSession } from './session.ts';

/** Path that the service is published at, without a trailing slash. */
export const base = new URL('../../..', import.meta.url).pathname.replace(/\/$/, '');

/** Paths of our own pages. Reports name some of them, too: src/model/page-addresses.ts. */
export const pages = {
  icon: `${base}/page/icon.svg`,
  tenant: (tenant: string) => `${base}/t/${encodeURIComponent(tenant)}`,
  item: (tenant: string, uuid: string) => `${base}/t/${encodeURIComponent(tenant)}/item/${uuid}`,
  errors: (tenant: string) => `${base}/t/${encodeURIComponent(tenant)}/config-errors`,
  semaphores: (tenant: string) => `${base}/t/${encodeURIComponent(tenant)}/semaphores`,
  pipeline: (tenant: string, name: string) =>
    `${base}/t/${encodeURIComponent(tenant)}/pipeline/${encodeURIComponent(name)}`,
  build: (tenant: string, uuid: string) => `${base}/t/${encodeURIComponent(tenant)}/build/${uuid}`,
};

/** @param path below the tenant, already encoded. */
export function api(tenant: string, path: string): string {
  return `${base}/api/tenant/${encodeURIComponent(tenant)}/${path}`;
}

/** Undefined: not found (404). @throws Error for any other failure. */
export async function fetchJson<Answer>(address: string): Promise<Answer | undefined> {
  const response = await fetch(address, { headers: { Accept: 'application/json', ...authorization() } });
  if (response.status === 404) return undefined;
  // A token that does not count any more; one that may not read this is answered 403.
  if (response.status === 401) forgetSession();
  if (!response.ok) throw new Error(`${address} answered ${response.status}`);
  return response.json();
}

/** Whether reading the tenant takes a token; also of one that does not exist, while any tenant is private. */
export async function needsToken(tenant: string): Promise<boolean> {
  const { status } = await fetch(api(tenant, 'info'), { headers: authorization() });
  return status === 401 || status === 403;
}

/** Empty: there is no tenant yet. */
export async function fetchTenants(): Promise<TenantsDocument> {
  return (await fetchJson<TenantsDocument>(`${base}/api/tenants`)) ?? [];
}

/** `none`: the start page, which shows the first tenant. */
export type Place =
  | { readonly page: 'none'; readonly tenant?: undefined }
  | { readonly page: 'board' | 'errors' | 'semaphores'; readonly tenant: string }
  | { readonly page: 'item' | 'build' | 'buildset'; readonly tenant: string; readonly uuid: string }
  | { readonly page: 'pipeline'; readonly tenant: string; readonly name: string };

/** The view that the address bar names. */
export function currentPlace(): Place {
  const path = location.pathname.slice(base.length);
  const [, named, rest = ''] = /^\/t\/([^/]+)(.*)$/.exec(path) ?? [];
  if (named === undefined) return { page: 'none' };
  const tenant = decodeURIComponent(named);
  if (rest === '/config-errors') return { page: 'errors', tenant };
  if (rest === '/semaphores') return { page: 'semaphores', tenant };
  const [, pipeline] = /^\/pipeline\/([^/]+)$/.exec(rest) ?? [];
  if (pipeline !== undefined) return { page: 'pipeline', tenant, name: decodeURIComponent(pipeline) };
  const [, kind, uuid] = /^\/(item|build|buildset)\/([0-9a-f]{32})/.exec(rest) ?? [];
  if (uuid === undefined) return { page: 'board', tenant };
  return { page: kind === 'item' ? 'item' : kind === 'build' ? 'build' : 'buildset', tenant, uuid };
}

/** Message of any thrown value, for people. */
export function errorTextOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
