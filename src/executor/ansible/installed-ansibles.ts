/**
 * The versions of Ansible that an executor has: `[executor] ansible_root`, in the layout of Zuul's `zuul-manage-ansible`.
 *
 *     /usr/local/lib/zuul/ansible/8/bin/ansible-playbook
 *     /usr/local/lib/zuul/ansible/11/bin/ansible-playbook       jobs write `ansible-version: 8` or `11`
 *
 * Looked for once, when the executor starts. Jobs see the folder, and what lies below `/usr`.
 */
import { readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Log } from '../../lib/log.ts';
import { INSIDE } from '../sandbox/bubblewrap-argv.ts';
import { closedDirectory } from '../sandbox/find-runtime.ts';
import { findAnsible } from './ansible-run.ts';

/**
 * What cannot be used is logged and left out: builds that want it go elsewhere.
 *
 * @param root undefined: there is none.
 * @returns `ansible-playbook` by version, in the order of their names.
 */
export async function installedAnsibles(
  root: string | undefined,
  log: Pick<Log, 'info' | 'warn'>,
): Promise<ReadonlyMap<string, string>> {
  if (root === undefined) return new Map();
  const programs = new Map<string, string>();
  for (const version of await foldersOf(root, log)) {
    const program = await findAnsible(join(root, version, 'bin'));
    if (program === undefined) continue;
    const reason = await unusable(program, root);
    if (reason === undefined) programs.set(version, program);
    else log.warn({ version, reason }, 'a version of Ansible cannot be used');
  }
  const versions = [...programs.keys()];
  if (versions.length > 0) log.info({ root, versions }, 'versions of Ansible that jobs may name');
  else log.warn({ root }, '[executor] ansible_root holds no version of Ansible that can be used');
  return programs;
}

async function foldersOf(root: string, log: Pick<Log, 'warn'>): Promise<readonly string[]> {
  try {
    const names = await readdir(root);
    // A version that the list of a setting cannot name is none.
    return names.filter(name => /^[^\s,.][^\s,]*$/.test(name)).toSorted();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.warn({ root, reason }, '[executor] ansible_root cannot be read');
    return [];
  }
}

/** In the sandbox these are the job's own. */
const OWN_OF_JOBS = ['/tmp', '/dev', '/proc', ...Object.values(INSIDE)];

/** Why jobs could not run it. */
async function unusable(program: string, root: string): Promise<string | undefined> {
  const hidden = OWN_OF_JOBS.find(folder => `${root}/`.startsWith(`${folder}/`));
  if (hidden !== undefined) return `it lies below ${hidden}, of which jobs have one of their own`;
  const found = await realpath(program);
  const seen = [await realpath(root), '/usr'];
  if (!seen.some(folder => found.startsWith(folder + sep)))
    return `it leads to ${found}, which jobs do not see: neither below ${root} nor /usr`;
  // Only a service of root gives its jobs other users.
  const closed = process.geteuid?.() === 0 ? closedDirectory(root) : undefined;
  return closed === undefined ? undefined : `jobs cannot pass through ${closed}`;
}
