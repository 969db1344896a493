/** Addresses people follow: pages of this service and of the trace viewer. */

export function buildPage(root: string, tenant: string, build: string): string {
  return `${root}/t/${encodeURIComponent(tenant)}/build/${build}`;
}

export function itemPage(root: string, tenant: string, item: string): string {
  return `${root}/t/${encodeURIComponent(tenant)}/item/${item}`;
}

export function logAddress(root: string, tenant: string, build: string): string {
  return `${root}/api/tenant/${encodeURIComponent(tenant)}/build/${build}/log`;
}
