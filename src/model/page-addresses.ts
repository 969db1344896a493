/** Addresses of pages and documents of the web service, for reports, job variables and answers. `root` has no trailing slash. */
import type { TenantName } from './project.ts';

/** Page of an item with its trace: `<root>/t/acme/item/<uuid>`. */
export function itemPage(root: string, tenant: TenantName, item: string): string {
  return `${root}/t/${encodeURIComponent(tenant)}/item/${item}`;
}

/** Page of a tenant's pipelines: `<root>/t/acme/status`. */
export function statusPage(root: string, tenant: TenantName): string {
  return `${root}/t/${encodeURIComponent(tenant)}/status`;
}

/** Page of a build with its log: `<root>/t/acme/build/<uuid>`. */
export function buildPage(root: string, tenant: TenantName, build: string): string {
  return `${root}/t/${encodeURIComponent(tenant)}/build/${build}`;
}

/** The log of a build as text: `<root>/api/tenant/acme/build/<uuid>/log`. */
export function buildLog(root: string, tenant: TenantName, build: string): string {
  return `${root}/api/tenant/${encodeURIComponent(tenant)}/build/${build}/log`;
}

/** What the build left, its log included: `<root>/api/tenant/acme/build/<uuid>/logs/`. As in Zuul the names of files follow. */
export function logsOfBuild(root: string, tenant: TenantName, build: string): string {
  return `${root}/api/tenant/${encodeURIComponent(tenant)}/build/${build}/logs/`;
}
