/**
 * What a caller may read and operate, by the rules of the tenant file and by the tenants that a token names (`zuul.admin`).
 *
 *     a tenant without access-rules     read by all
 *     a private tenant (with them)      read by whom one of them fits, or one of its admin-rules, or whose token names it
 *     the whole installation            the same with the access-rules of `api-root`; whose token names every tenant reads it
 *     operating a tenant                whom one of its admin-rules fits, or whose token names it
 *
 * Only callers who may read a private tenant learn that it exists: while there is any, an unknown tenant is refused as a private one is.
 */
import type { AuthorizationRule } from '../../model/authorization.ts';
import type { TenantName } from '../../model/project.ts';
import type { AccessRules } from './access-rules.ts';
import type { Caller } from './caller.ts';
import { fitsRule } from './fits-rule.ts';
import type { User } from './token.ts';

/** Whether a tenant, existing or not, needs a token. */
export function isHidden(rules: AccessRules, tenant: TenantName): boolean {
  const access = rules.ofTenant(tenant);
  return access === undefined ? hasPrivateTenants(rules) : access.accessRules.length > 0;
}

/** Whether any tenant is private. */
export function hasPrivateTenants(rules: AccessRules): boolean {
  return rules.tenants().some(tenant => isPrivate(rules, tenant));
}

/** For an unknown tenant: whether the caller may learn that it is. */
export function mayRead(rules: AccessRules, caller: Caller, tenant: TenantName): boolean {
  if (caller.kind === 'here' || !isHidden(rules, tenant)) return true;
  if (caller.kind === 'anonymous') return false;
  const { user } = caller;
  return mayOperate(rules, user, tenant) || fitsAny(rules.ofTenant(tenant)?.accessRules, user, tenant);
}

/** Also whether they may operate a tenant that does not exist (yet): then only by the token. */
export function mayOperate(rules: AccessRules, user: User, tenant: TenantName): boolean {
  return user.tenants.includes(tenant) || fitsAny(rules.ofTenant(tenant)?.adminRules, user, tenant);
}

/** Whether they may operate the whole installation: every tenant, of which there is one at least. */
export function mayOperateAll(rules: AccessRules, user: User): boolean {
  const tenants = rules.tenants();
  return tenants.length > 0 && tenants.every(tenant => mayOperate(rules, user, tenant));
}

/** What belongs to no tenant. */
export function mayReadRoot(rules: AccessRules, caller: Caller): boolean {
  const { accessRules } = rules.ofRoot();
  if (caller.kind === 'here' || accessRules.length === 0) return true;
  if (caller.kind === 'anonymous') return false;
  return fitsAny(accessRules, caller.user, undefined) || mayOperateAll(rules, caller.user);
}

function isPrivate(rules: AccessRules, tenant: TenantName): boolean {
  return (rules.ofTenant(tenant)?.accessRules.length ?? 0) > 0;
}

function fitsAny(
  rules: readonly AuthorizationRule[] = [],
  user: User,
  tenant: TenantName | undefined,
): boolean {
  return rules.some(rule => fitsRule(rule, user, tenant));
}
