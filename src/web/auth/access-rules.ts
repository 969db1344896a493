import type { RootAccess, TenantAccess } from '../../model/authorization.ts';
import type { TenantName } from '../../model/project.ts';

/** What the tenant files say, from the layouts in force. Read for each request. */
export interface AccessRules {
  /** Those with a layout. */
  readonly tenants: () => readonly TenantName[];
  /** Undefined: there is no such tenant. */
  readonly ofTenant: (tenant: TenantName) => TenantAccess | undefined;
  readonly ofRoot: () => RootAccess;
}
