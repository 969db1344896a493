/**
 * Whether a token fits a rule of the tenant file. Zuul's meaning:
 *
 *     resource_access.account.roles: admin      the claim at that path is "admin", or a list with it
 *     resource_access: {account: {roles: admin}}                the same
 *     groups: [ops, "{tenant.name}"]            one of the values
 *     zuul_uid: alice                           the user, by the realm's `uid_claim`
 *
 * A claim whose name has dots is found under that name first. Only members of the token itself count, never inherited ones.
 */
import type { AuthorizationRule } from '../../model/authorization.ts';
import type { Json } from '../../model/job.ts';
import type { TenantName } from '../../model/project.ts';
import type { User } from './token.ts';

const TENANT = '{tenant.name}';

/** @param tenant what `{tenant.name}` stands for; undefined: for the whole installation, where it stands for nothing. */
export function fitsRule(
  rule: AuthorizationRule,
  user: Pick<User, 'name' | 'claims'>,
  tenant: TenantName | undefined,
): boolean {
  return rule.conditions.some(condition =>
    Object.entries(condition).every(([claim, wanted]) => {
      const found = claim === 'zuul_uid' ? user.name : valueAt(user.claims, claim);
      return fits(wanted, found, tenant);
    }),
  );
}

function fits(wanted: Json, found: unknown, tenant: TenantName | undefined): boolean {
  if (isList(wanted)) return wanted.some(each => fits(each, found, tenant));
  if (typeof wanted === 'object' && wanted !== null)
    return Object.entries(wanted).every(([name, each]) => fits(each, valueAt(found, name), tenant));
  const value = typeof wanted === 'string' ? filledIn(wanted, tenant) : wanted;
  if (value === undefined || value === null) return false;
  return Array.isArray(found) ? found.includes(value) : found === value;
}

/** Undefined: the value fits nothing. */
function filledIn(wanted: string, tenant: TenantName | undefined): string | undefined {
  if (!wanted.includes(TENANT)) return wanted;
  return tenant === undefined ? undefined : wanted.replaceAll(TENANT, () => tenant);
}

function valueAt(owner: unknown, path: string): unknown {
  if (isObject(owner) && Object.hasOwn(owner, path)) return owner[path];
  const dot = path.indexOf('.');
  if (dot === -1 || !isObject(owner)) return undefined;
  const first = path.slice(0, dot);
  return Object.hasOwn(owner, first) ? valueAt(owner[first], path.slice(dot + 1)) : undefined;
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
