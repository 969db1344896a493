/** Addresses of pages and answers, as reports and job variables name them. `root` has no trailing slash. */
import type { Uuid } from '../lib/ids.ts';
import type { TenantName } from '../model/project.ts';

export function itemPage(root: string, tenant: TenantName, item: Uuid): string {
  return `${root}/t/${encodeURIComponent(tenant)}/item/${item}`;
}

export function statusPage(root: string, tenant: TenantName): string {
  return `${root}/t/${encodeURIComponent(tenant)}/status`;
}

export function buildPage(root: string, tenant: TenantName, build: Uuid): string {
  return `${root}/t/${encodeURIComponent(tenant)}/build/${build}`;
}

export function buildLog(root: string, tenant: TenantName, build: Uuid): string {
  return `${root}/api/tenant/${encodeURIComponent(tenant)}/build/${build}/log`;
}
