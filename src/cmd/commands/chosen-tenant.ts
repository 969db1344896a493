/** The tenant that a command is about, where a settings file has several. */
import type { Tenant } from '../../model/layout.ts';
import { type Refused, refused } from './refused.ts';

/** @param wanted undefined: the only one. */
export function chosenTenant(
  tenants: readonly Tenant[],
  wanted: string | undefined,
): { readonly kind: 'tenant'; readonly tenant: Tenant } | Refused {
  const [first, ...others] = tenants;
  const tenant =
    wanted === undefined && others.length === 0 ? first : tenants.find(({ name }) => name === wanted);
  if (tenant !== undefined) return { kind: 'tenant', tenant };
  const names = tenants.map(({ name }) => name).join(', ') || 'none';
  return refused(
    wanted === undefined
      ? `name one of the tenants with --tenant: ${names}`
      : `there is no tenant ${wanted}; there are: ${names}`,
  );
}
