/** The project of the checkout that a command runs in, among those of a tenant. */
import { createGit } from '../../git/process/git.ts';
import { type Api, ApiError } from '../client/api.ts';
import { pathOfUrl } from '../run/project-of-url.ts';
import type { Io } from '../terminal/io.ts';
import { type Refused, refused } from './refused.ts';

/** How users write it. */
const HERE = '.';

/** @param name undefined, and every name but `.`, stay as they are. @throws ApiError */
export async function namedProject<Name extends string | undefined>(
  session: { readonly api: Api; readonly tenant: string; readonly io: Pick<Io, 'directory'> },
  name: Name,
): Promise<string | Name | Refused> {
  if (name !== HERE) return name;
  const url = await originOf(session.io.directory ?? process.cwd());
  if (url === undefined)
    return refused('this is not a checkout with a remote "origin"; name the project instead of "."');
  const project = projectOf(url, await projectsOf(session.api, session.tenant));
  return (
    project ?? refused(`tenant ${session.tenant} has no project for the remote "origin" of this checkout`)
  );
}

/** The only one of the tenants that has the project of the checkout; undefined: none or several have it, or there is no checkout. */
export async function tenantOfCheckout(
  api: Api,
  tenants: readonly string[],
  directory: string,
): Promise<string | undefined> {
  const url = await originOf(directory);
  if (url === undefined) return undefined;
  const having: string[] = [];
  for (const tenant of tenants) {
    try {
      if (projectOf(url, await projectsOf(api, tenant)) !== undefined) having.push(tenant);
    } catch (error) {
      // Others may read it, but not this user.
      if (!(error instanceof ApiError)) throw error;
    }
  }
  return having.length === 1 ? having[0] : undefined;
}

/** The longest name that the address ends with. */
export function projectOf(url: string, names: readonly string[]): string | undefined {
  const path = pathOfUrl(url);
  return names
    .filter(name => path === name || path.endsWith(`/${name}`))
    .toSorted((a, b) => b.length - a.length)[0];
}

/** @throws ApiError */
async function projectsOf(api: Api, tenant: string): Promise<readonly string[]> {
  const projects = await api.get<readonly { readonly name: string }[]>(
    `/api/tenant/${encodeURIComponent(tenant)}/projects`,
  );
  return projects.map(({ name }) => name);
}

async function originOf(directory: string): Promise<string | undefined> {
  const git = createGit({ identity: { name: 'Gatehouse', email: 'gatehouse@localhost' } });
  const result = await git.run(['config', '--get', 'remote.origin.url'], { cwd: directory });
  return result.kind === 'ok' ? result.stdout.toString().trim() : undefined;
}
