/** `gatehouse export-keys|import-keys|copy-keys|delete-keys|delete-keystore`: the keys of projects, in Zuul's file format, as zuul-admin. */
import { open, readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { Secret } from '../../lib/secret.ts';
import { projectKey } from '../../model/project.ts';
import { readZuulKeys, zuulKeysText } from '../../store/keystore/zuul-keys.ts';
import { type Io, print } from '../terminal/io.ts';
import { DEFAULT_CONFIG } from './find-socket.ts';
import { dropKeystore, type KeystoreWork, type OpenedKeystore, withKeystore } from './open-keystore.ts';
import { type Refused, refused } from './refused.ts';

interface KeyOptions {
  readonly config: string;
}

interface ImportOptions extends KeyOptions {
  readonly force?: boolean;
  readonly passwordFile?: string;
}

const EXAMPLES = `
Examples:
  gatehouse export-keys keys.json -c /etc/gatehouse/gatehouse.conf
  gatehouse import-keys keys.json -c /etc/gatehouse/gatehouse.conf        also a file of zuul-admin export-keys
  gatehouse copy-keys github acme/old github acme/new

With the embedded store the service must be stopped. The password is [keystore] password.`;

type Done = (status: number) => void;

/** @param done gets the exit status: 1 when the store, the password or the file cannot be used. */
export function addKeyCommands(program: Command, io: Io, done: Done): void {
  const described = (command: Command, summary: string, description: string) =>
    command
      .summary(summary)
      .description(description)
      .option('-c, --config <file>', 'settings file', DEFAULT_CONFIG)
      .addHelpText('after', EXAMPLES);
  const work = async ({ config }: KeyOptions, keys: KeystoreWork) =>
    done(await withKeystore(io, config, keys));
  described(
    program.command('export-keys'),
    'write the keys of all projects to a file',
    "Writes the keys of all projects to a new file, in the format of Zuul's export-keys. The password still protects them.",
  )
    .argument('<file>', 'file to create')
    .action((file: string, options: KeyOptions) => work(options, opened => exportKeys(opened, io, file)));
  described(
    program.command('import-keys'),
    'read keys of projects from a file',
    "Reads keys of projects from a file of export-keys, Zuul's or Gatehouse's, that was written with the same password.",
  )
    .argument('<file>', 'file to read')
    .option('--force', 'replace existing keys')
    .option('--password-file <file>', 'first line: password of the file, where it is another one')
    .action((file: string, options: ImportOptions) =>
      work(options, opened => importKeys(opened, io, file, options)),
    );
  described(
    program.command('copy-keys'),
    'copy the keys of a project to another',
    'Copies the keys of a project to another name, for a project that is renamed. Keys that are there are not replaced.',
  )
    .argument('<connection>', 'connection of the project')
    .argument('<project>', 'its name')
    .argument('<new-connection>', 'connection of the other project')
    .argument('<new-project>', 'its name')
    .action((connection: string, name: string, toConnection: string, toName: string, options: KeyOptions) =>
      work(options, opened =>
        copyKeys(opened, io, { connection, name }, { connection: toConnection, name: toName }),
      ),
    );
  described(
    program.command('delete-keys'),
    'delete the keys of a project',
    'Deletes the keys of a project. What is encrypted for it can never be decrypted again, unless the keys were exported.',
  )
    .argument('<connection>', 'connection of the project')
    .argument('<project>', 'its name')
    .action((connection: string, name: string, options: KeyOptions) =>
      work(options, opened => deleteKeys(opened, io, { connection, name })),
    );
  described(
    program.command('delete-keystore'),
    'delete the keys of all projects',
    'Deletes the keys of all projects, for a password that is lost or changed. Needs no password; everything that is encrypted is lost.',
  )
    .requiredOption('--yes', 'confirm it')
    .action(async ({ config }: KeyOptions) => done(await dropKeystore(io, config)));
}

async function exportKeys(
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

async function importKeys(
  { keystore, password }: OpenedKeystore,
  io: Io,
  file: string,
  { force = false, passwordFile }: ImportOptions,
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

interface NamedProject {
  readonly connection: string;
  readonly name: string;
}

async function copyKeys(
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

async function deleteKeys({ keystore }: OpenedKeystore, io: Io, of: NamedProject): Promise<number | Refused> {
  if (!(await keystore.remove(projectKey(of)))) return refused(`${projectKey(of)} has no keys`);
  print(io, `deleted the keys of ${projectKey(of)}`);
  return 0;
}
