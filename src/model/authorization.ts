/**
 * Who may read and operate a tenant, as the tenant file says: rules about the claims of a token. Zuul's `authorization-rule`.
 *
 *     {name: 'company', conditions: [{iss: 'https://login.example.org', groups: 'ci'}]}
 *
 * A rule fits a token that fits one of its conditions; a condition fits a token that has all of its claims.
 */
import type { Json } from './job.ts';

/** Never empty: by claim, a value that the claim must have or contain. Claims may be paths (`resource_access.account.roles`). */
export type ClaimCondition = { readonly [claim: string]: Json };

/** A named rule of the tenant file. */
export interface AuthorizationRule {
  readonly name: string;
  readonly conditions: readonly ClaimCondition[];
}

/** Of the whole installation, from `api-root`. */
export interface RootAccess {
  /** One of them must fit; empty: open to all. */
  readonly accessRules: readonly AuthorizationRule[];
  /** The realm in which people sign in; absent: the default one. */
  readonly realm?: string;
}

/** Of one tenant. */
export interface TenantAccess extends RootAccess {
  /** Who one of them fits may operate the tenant, and read it. */
  readonly adminRules: readonly AuthorizationRule[];
  /** Of the tenant file that the tenant was read from. Absent: it says nothing. */
  readonly root?: RootAccess;
}

/** Of a tenant whose file says nothing. */
export const OPEN_ACCESS: TenantAccess = { accessRules: [], adminRules: [] };
