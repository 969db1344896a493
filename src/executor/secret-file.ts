/**
 * How a playbook sees its secrets: in one file of memory, at `ZUUL_SECRETS_FILE`, that exists while the playbook runs and that only its
 * user can read.
 *
 *     script     {"deploy": {"token": "hunter2"}}
 *     Ansible    variables, as data; read from beside the variables of the job, which they win over
 *
 * In the sandbox it is part of the sandbox and comes through a pipe. Without one it is a file in `/dev/shm`, removed when the playbook
 * ends; the next start of the executor removes what a crash left.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  fchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { sha256 } from '../lib/ids.ts';
import type { Json } from '../model/job.ts';
import { variablesYaml } from './ansible/variables-yaml.ts';
import type { BuildPlaces } from './build-places.ts';
import type { Owner } from './sandbox/stage.ts';

/** The content of the file. @param form as the playbook reads it. */
export function secretFileText(
  values: { readonly [name: string]: Json },
  form: 'script' | 'ansible',
): string {
  return `${form === 'ansible' ? variablesYaml(values) : JSON.stringify(values)}\n`;
}

/** Of one build without a sandbox. */
export function hostSecretFile({ root }: Pick<BuildPlaces, 'root'>): string {
  return join(rootOf(dirname(root)), `${basename(root)}.json`);
}

/**
 * Only `owner` can read it; null: the service's user. By its descriptor, because jobs of other slots may write beside the directory.
 *
 * @throws Error when the directory is not the service's own; an error of the file system.
 */
export function writeSecretFile(path: string, text: string, owner: Owner | null): void {
  const folder = lstatSync(dirname(path));
  if (!folder.isDirectory() || folder.uid !== process.geteuid?.())
    throw new Error(`${dirname(path)} is not a directory of this service`);
  rmSync(path, { force: true });
  const file = openSync(path, 'wx', 0o400);
  try {
    writeFileSync(file, text);
    if (owner !== null) fchownSync(file, owner.uid, owner.gid);
  } finally {
    closeSync(file);
  }
}

/** However the playbook ended. */
export function removeSecretFile(path: string): void {
  rmSync(path, { force: true });
}

/** An empty directory for the files, without what builds of an earlier run left. @throws an error of the file system. */
export function prepareSecretFiles(jobDir: string): void {
  const root = rootOf(jobDir);
  rmSync(root, { recursive: true, force: true });
  // Fails where a job of another executor has made it in between.
  mkdirSync(root, { mode: 0o711 });
  chmodSync(root, 0o711);
}

/** With all that is in it. */
export function removeSecretFiles(jobDir: string): void {
  rmSync(rootOf(jobDir), { recursive: true, force: true });
}

function rootOf(jobDir: string): string {
  const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  return join(memory, `gatehouse-secrets-${sha256(jobDir).slice(0, 16)}`);
}
