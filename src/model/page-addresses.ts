/** Addresses of pages and documents of the web service, for reports, job variables and answers. `root` has no trailing slash. */
import type { TenantName } from './project.ts';

export function itemPage(root: string, tenant: TenantName, item: string): string {
  return `${root}/t/${encodeURIComponent(tenant)}/item/${item}`;
}

export function statusPage(root: string, tenant: TenantName): string {
  return `${root}/t/${encodeURIComponent(tenant)}/status`;
}

export function buildPage(root: string, tenant: TenantName, build: string): string {
  return `${root}/t/${encodeURIComponent(tenant)}/build/${build}`;
}

export function buildLog(root: string, tenant: TenantName, build: string): string {
  return `${root}/api/tenant/${encodeURIComponent(tenant)}/build/${build}/log`;
}
