/** What a token is for, and the least permission that needs. */
import { APP_PERMISSIONS } from '../permissions.ts';

/** `api`: requests of this driver to any repository of the installation. `git`: one repository, for git. */
export type TokenUse =
  | { readonly kind: 'api' }
  /** `owner/name`. */
  | { readonly kind: 'git'; readonly repository: string; readonly access: 'read' | 'write' };

type Permissions = { readonly [name: string]: string };

const OF_API: Permissions = Object.fromEntries(APP_PERMISSIONS.map(({ name, level }) => [name, level]));
const OF_READ: Permissions = { metadata: 'read', contents: 'read' };
/** A commit that changes `.github/workflows/` cannot be pushed without `workflows`. */
const OF_WRITE: Permissions = { metadata: 'read', contents: 'write', workflows: 'write' };

const LEVELS: readonly string[] = ['read', 'write', 'admin'];

/** GitHub refuses a token with more than the installation has. @param granted to the installation. */
export function permissionsFor(use: TokenUse, granted: Permissions): Permissions {
  const wanted = use.kind === 'api' ? OF_API : use.access === 'read' ? OF_READ : OF_WRITE;
  return Object.fromEntries(
    Object.entries(wanted).flatMap(([name, level]) => {
      const has = granted[name];
      if (has === undefined) return [];
      return [[name, LEVELS.indexOf(has) < LEVELS.indexOf(level) ? has : level]];
    }),
  );
}
