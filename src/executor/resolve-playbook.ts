/**
 * From a playbook's path to what runs. The path may come from a stranger: it has to name a file below its project's tree, also
 * after every symbolic link is followed; one for Ansible by its name (`.yaml`, `.yml`), any other an executable.
 */
import { realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { isAnsiblePlaybook } from '../model/ansible-playbook.ts';
import type { BuildPlaybook } from '../model/build-request.ts';

/** `unusable` ends the build with ERROR: it is the job's configuration that is wrong. */
export type ResolvedPlaybook =
  | {
      readonly kind: 'program';
      /** As the job sees it. */
      readonly path: string;
    }
  | {
      readonly kind: 'ansible';
      /** As the job sees it. */
      readonly path: string;
      /** For people. */
      readonly name: string;
    }
  /** One line for the author of the job. */
  | { readonly kind: 'unusable'; readonly reason: string };

/** @param tree the project's checkout, on the host and in the job's view. */
export async function resolvePlaybook(
  playbook: BuildPlaybook,
  tree: { readonly host: string; readonly job: string },
): Promise<ResolvedPlaybook> {
  const name = `${playbook.canonicalName}/${playbook.path}`;
  const unusable = (reason: string): ResolvedPlaybook => ({
    kind: 'unusable',
    reason: `playbook ${name} ${reason}`,
  });
  if (!isPlainPath(playbook.path)) return unusable('is not a path below the root of its project');
  const found = await realPathOrNone(join(tree.host, playbook.path));
  if (found === undefined) return unusable(`does not exist at commit ${playbook.commit}`);
  const root = await realpath(tree.host);
  if (!found.startsWith(root + sep)) return unusable('leads out of its project by a symbolic link');
  if (found.startsWith(join(root, '.git') + sep)) return unusable('lies in .git');
  const { mode } = await stat(found);
  if ((mode & 0o170_000) !== 0o100_000) return unusable('is not a file');
  const path = join(tree.job, playbook.path);
  if (isAnsiblePlaybook(playbook.path)) return { kind: 'ansible', path, name };
  if ((mode & 0o111) === 0) return unusable('is not executable; run `git update-index --chmod=+x` on it');
  return { kind: 'program', path };
}

function isPlainPath(path: string): boolean {
  return !path.includes('\0') && path.split('/').every(part => part !== '' && part !== '.' && part !== '..');
}

async function realPathOrNone(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    const gone = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'];
    if (error instanceof Error && 'code' in error && gone.includes(String(error.code))) return undefined;
    throw error;
  }
}
