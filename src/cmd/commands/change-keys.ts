/** What the commands about the keys of projects do with an opened keystore; the commands themselves are in keys.ts, which loads this when one runs. */
import { open, readFile } from 'node:fs/promises';
import { Secret } from '../../lib/secret.ts';
import { projectKey } from '../../model/project.ts';
import { readZuulKeys, zuulKeysText } from '../../store/keystore/zuul-keys.ts';
import { type Io, print } from '../terminal/io.ts';
import type { OpenedKeystore } from './open-keystore.ts';
import { type Refused, refused } from './refused.ts';

/** Of a file written by `export-keys`, ours or Zuul's. */
export interface ImportChoice {
  /** Existing keys are replaced. */
  readonly force?: boolean;
  /** Its first line is the password of the file. Absent: that of the keystore. */
  readonly passwordFile?: string;
}

/** @returns the exit status. */
export async function exportKeys(
  { keystore, password }: OpenedKeystore,
  io: Io,
  file: string,
): Promise<number | Refused> {
  const projects = await keystore.projects();
  const found = [];
  for (const project of projects) {
    const keys = await keystore.read(project);
    if (keys !== undefined) found.push({ project, keys });
  }
  const text = zuulKeysText(found, password);
  try {
    await using created = await open(file, 'wx', 0o600);
    await created.writeFile(`${text}\n`);
    await created.sync();
  } catch (error) {
    return refused(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
  print(io, `exported the keys of ${found.length} projects to ${file}`);
  return 0;
}

/** @returns the exit status. */
export async function importKeys(
  { keystore, password }: OpenedKeystore,
  io: Io,
  file: string,
  { force = false, passwordFile }: ImportChoice,
): Promise<number | Refused> {
  const text = await contentOf(file);
  if (typeof text !== 'string') return text;
  const locked = passwordFile === undefined ? undefined : await contentOf(passwordFile);
  if (locked !== undefined && typeof locked !== 'string') return locked;
  const of = locked === undefined ? password : new Secret(locked.split(/\r?\n/, 1)[0] ?? '');
  const read = readZuulKeys(text, of);
  if (read.kind === 'invalid') return refused(`${file}: ${read.text}`);
  let written = 0;
  for (const { project, keys } of read.projects) {
    const uses = await keystore.write(project, keys, force);
    written += uses.length;
    for (const use of ['secrets', 'ssh'] as const)
      if (keys[use] !== undefined && !uses.includes(use))
        io.stderr.write(`warning: ${project} has a ${use} key already; --force replaces it\n`);
  }
  print(io, `imported ${written} keys of ${read.projects.length} projects`);
  return 0;
}

async function contentOf(file: string): Promise<string | Refused> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    return refused(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A project by the names of the settings. */
interface NamedProject {
  readonly connection: string;
  readonly name: string;
}

/** @returns the exit status. */
export async function copyKeys(
  { keystore }: OpenedKeystore,
  io: Io,
  from: NamedProject,
  to: NamedProject,
): Promise<number | Refused> {
  const keys = await keystore.read(projectKey(from));
  if (keys === undefined) return refused(`${projectKey(from)} has no keys`);
  const uses = await keystore.write(projectKey(to), keys, false);
  if (uses.length === 0)
    return refused(`${projectKey(to)} has keys already; delete them first with "gatehouse delete-keys"`);
  print(io, `copied keys (${uses.join(', ')}) of ${projectKey(from)} to ${projectKey(to)}`);
  return 0;
}

/** @returns the exit status. */
export async function deleteKeys(
  { keystore }: OpenedKeystore,
  io: Io,
  of: NamedProject,
): Promise<number | Refused> {
  if (!(await keystore.remove(projectKey(of)))) return refused(`${projectKey(of)} has no keys`);
  print(io, `deleted the keys of ${projectKey(of)}`);
  return 0;
}
