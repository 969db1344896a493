/** Who may read and operate what, from the layouts in force. */
import { OPEN_ACCESS } from '../../model/authorization.ts';
import type { LiveTenants } from '../../store/live-tenants.ts';
import type { AccessRules } from '../../web/auth/access-rules.ts';

/**
 * What `api-root` says is stored with each tenant. The newest layout counts: a scheduler that reads a new tenant file stores all of its
 * tenants anew, and what is left of a removed tenant stays as it was.
 *
 * @param live undefined until the store was read; then no tenant is known, and nothing is shown.
 */
export function accessRules(live: () => LiveTenants | undefined): AccessRules {
  const tenants = () => live()?.tenants() ?? [];
  return {
    tenants,
    ofTenant(tenant) {
      const layout = live()?.layout(tenant);
      return layout === undefined ? undefined : (layout.builtFrom?.tenant.access ?? OPEN_ACCESS);
    },
    ofRoot() {
      const layouts = tenants().flatMap(tenant => live()?.layout(tenant) ?? []);
      const newest = layouts.reduce<(typeof layouts)[number] | undefined>(
        (best, layout) =>
          best === undefined || BigInt(layout.reconfiguredAt) > BigInt(best.reconfiguredAt) ? layout : best,
        undefined,
      );
      return newest?.builtFrom?.tenant.access?.root ?? OPEN_ACCESS;
    },
  };
}
