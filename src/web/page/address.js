/** Where things are: pages of ours and the API, below whatever path the service is published at. */
const base = new URL('../../..', import.meta.url).pathname.replace(/\/$/, '');

export const pages = {
  icon: `${base}/page/icon.svg`,
  tenant: tenant => `${base}/t/${encodeURIComponent(tenant)}`,
  item: (tenant, uuid) => `${base}/t/${encodeURIComponent(tenant)}/item/${uuid}`,
  errors: tenant => `${base}/t/${encodeURIComponent(tenant)}/config-errors`,
  pipeline: (tenant, name) => `${base}/t/${encodeURIComponent(tenant)}/pipeline/${encodeURIComponent(name)}`,
  build: (tenant, uuid) => `${base}/t/${encodeURIComponent(tenant)}/build/${uuid}`,
};

export function api(tenant, path) {
  return `${base}/api/tenant/${encodeURIComponent(tenant)}/${path}`;
}

/** Undefined when there is no such thing; throws when the answer cannot be had. */
export async function fetchJson(address) {
  const response = await fetch(address, { headers: { Accept: 'application/json' } });
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error(`${address} answered ${response.status}`);
  return response.json();
}

export function fetchTenants() {
  return fetchJson(`${base}/api/tenants`);
}

/** `{page: 'board' | 'item' | 'build' | 'buildset' | 'pipeline' | 'errors' | 'none', tenant, uuid, name}` of the address bar. */
export function currentPlace() {
  const path = location.pathname.slice(base.length);
  const found = /^\/t\/([^/]+)(?:\/(item|build|buildset)\/([0-9a-f]{32}))?/.exec(path);
  if (found === null) return { page: 'none', tenant: null, uuid: null };
  if (/^\/t\/[^/]+\/config-errors$/.test(path))
    return { page: 'errors', tenant: decodeURIComponent(found[1]), uuid: null };
  const pipeline = /^\/t\/[^/]+\/pipeline\/([^/]+)$/.exec(path)?.[1];
  if (pipeline !== undefined)
    return { page: 'pipeline', tenant: decodeURIComponent(found[1]), name: decodeURIComponent(pipeline) };
  return { page: found[2] ?? 'board', tenant: decodeURIComponent(found[1]), uuid: found[3] ?? null };
}
