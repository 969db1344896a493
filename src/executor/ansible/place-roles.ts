/**
 * Where Ansible finds the roles of a playbook: one directory per project with roles, for the job to read only.
 *
 *     info/roles/0 ─► <checkout>/roles        the repository has roles
 *     info/roles/1/java ─► <checkout>         it is one role itself, called `java`
 */
import { mkdirSync, symlinkSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { BuildPlaybook, BuildRole } from '../../model/build-request.ts';
import { makeDirectory } from '../build-places.ts';
import type { JobView } from '../sandbox/sandbox.ts';
import type { Workspace } from '../workspace.ts';

interface RolePlaces {
  readonly roles: readonly BuildRole[];
  /** The build's directory, on the host. */
  readonly info: string;
  readonly view: Pick<JobView, 'info'>;
  readonly workspace: Pick<Workspace, 'treeOf'>;
}

/** `unusable`: one line for the author of the job. */
type FoundRoles =
  | { readonly kind: 'found'; readonly path: readonly string[] }
  | { readonly kind: 'unusable'; readonly reason: string };

/** Directories of roles for a playbook, as the job sees them, the first one to be searched first; made when one first needs them. */
export function placedRoles(places: RolePlaces): (playbook: BuildPlaybook) => Promise<FoundRoles> {
  const made = new Map<number, Promise<string | null>>();
  return async playbook => {
    const { path, roles } = playbook;
    // Frozen by an older scheduler, which named none.
    if (roles === undefined)
      return { kind: 'found', path: [`${places.workspace.treeOf(playbook).job}/roles`] };
    const found: string[] = [];
    for (const index of roles) {
      const role = places.roles[index];
      if (role === undefined)
        throw new Error(`playbook ${path} names role ${index}, which its request lacks`);
      const placing = made.get(index) ?? placeRole(places, role, index);
      made.set(index, placing);
      const place = await placing;
      if (place !== null) found.push(place);
      else if (role.implicit !== true) return { kind: 'unusable', reason: withoutRoles(role) };
    }
    return { kind: 'found', path: found };
  };
}

function withoutRoles({ canonicalName, commit, branch }: BuildRole): string {
  const at = branch === null ? commit : `${commit} (branch ${branch})`;
  return `project ${canonicalName} is listed in roles and has neither roles/ nor tasks/ at commit ${at}`;
}

/** @returns null: the project has no roles. */
async function placeRole(
  { info, view, workspace }: RolePlaces,
  role: BuildRole,
  index: number,
): Promise<string | null> {
  const tree = workspace.treeOf(role);
  const isRole = await isFolderBelow(tree.host, 'tasks');
  if (!isRole && !(await isFolderBelow(tree.host, 'roles'))) return null;
  const place = `roles/${index}`;
  mkdirSync(join(info, 'roles'), { recursive: true, mode: 0o755 });
  if (isRole) {
    makeDirectory(join(info, place), 0o755, null);
    symlinkSync(tree.job, join(info, place, role.name));
  } else symlinkSync(`${tree.job}/roles`, join(info, place));
  return `${view.info}/${place}`;
}

/** Also after symbolic links, which strangers may have made. */
async function isFolderBelow(root: string, name: string): Promise<boolean> {
  try {
    const found = await realpath(join(root, name));
    return found.startsWith((await realpath(root)) + sep) && (await stat(found)).isDirectory();
  } catch (error) {
    const gone = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'];
    if (error instanceof Error && 'code' in error && gone.includes(String(error.code))) return false;
    throw error;
  }
}
