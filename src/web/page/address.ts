/** Addresses of pages and of the API, below the path the service is published at. */
import type { TenantsDocument } from '../../api/service.ts';
import { type Place, placeOf } from '../../model/page-place.ts';
import { authorization, forgetSession } from './session.ts';

/** Path that the service is published at, without a trailing slash. */
export const base = new URL('../..', import.meta.url).pathname.replace(/\/$/, '');

/** Paths of our own pages. Reports name some of them, too: src/model/page-addresses.ts. */
export const pages = {
  icon: (state: string) => new URL(`icon${state}.svg`, import.meta.url).pathname,
  /** Of the kinds that need no name; see src/model/page-place.ts. */
  list: (tenant: string, name: string) => `${base}/t/${encodeURIComponent(tenant)}/${name}`,
  tenant: (tenant: string) => `${base}/t/${encodeURIComponent(tenant)}`,
  item: (tenant: string, uuid: string) => `${base}/t/${encodeURIComponent(tenant)}/item/${uuid}`,
  pipeline: (tenant: string, name: string) =>
    `${base}/t/${encodeURIComponent(tenant)}/pipeline/${encodeURIComponent(name)}`,
  project: (tenant: string, name: string) =>
    `${base}/t/${encodeURIComponent(tenant)}/project/${name.split('/').map(encodeURIComponent).join('/')}`,
  job: (tenant: string, name: string) =>
    `${base}/t/${encodeURIComponent(tenant)}/job/${encodeURIComponent(name)}`,
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

/** The answer to what was sent, undefined if it has no body; a refusal is for people. */
export type Posted<Answer> =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'refused'; readonly text: string };

/** Sends JSON, as who is signed in. The token is in a header: no other site's page can send it. */
export async function sendJson<Answer>(
  address: string,
  body: object,
  method: 'POST' | 'DELETE' = 'POST',
): Promise<Posted<Answer | undefined>> {
  try {
    const response = await fetch(address, {
      method,
      headers: { 'Content-Type': 'application/json', Accept: 'application/json', ...authorization() },
      body: JSON.stringify(body),
    });
    if (response.status === 401) forgetSession();
    const answer = response.status === 204 ? undefined : await response.json();
    if (response.ok) return { kind: 'answer', answer };
    return { kind: 'refused', text: answer?.error ?? `the service answered ${response.status}` };
  } catch (error) {
    return { kind: 'refused', text: `the service does not answer (${errorTextOf(error)})` };
  }
}

/** Whether the tenant can be read: `private` also of one that does not exist, while any tenant is private. */
export async function tenantStanding(tenant: string): Promise<'readable' | 'private' | 'unknown'> {
  const { status } = await fetch(api(tenant, 'info'), { headers: authorization() });
  if (status === 404) return 'unknown';
  return status === 401 || status === 403 ? 'private' : 'readable';
}

/** Empty: there is no tenant yet. */
export async function fetchTenants(): Promise<TenantsDocument> {
  return (await fetchJson<TenantsDocument>(`${base}/api/tenants`)) ?? [];
}

/** The page that the address bar names. */
export function currentPlace(): Place {
  return placeOf(location.pathname.slice(base.length));
}

/** Goes to an address of this site without a new document. */
export function goTo(address: string): void {
  window.history.pushState(null, '', address);
  window.dispatchEvent(new PopStateEvent('popstate'));
}

/** Message of any thrown value, for people. */
export function errorTextOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
