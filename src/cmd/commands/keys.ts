/** `gatehouse export-keys|import-keys|copy-keys|delete-keys|delete-keystore`: the keys of projects, in Zuul's file format, as zuul-admin. */
import type { Command } from 'commander';
import type { Io } from '../terminal/io.ts';
import type { ImportChoice } from './change-keys.ts';
import { DEFAULT_CONFIG } from './find-socket.ts';
import type { OpenedKeystore } from './open-keystore.ts';
import type { Refused } from './refused.ts';

interface KeyOptions {
  readonly config: string;
}

type ImportOptions = KeyOptions & ImportChoice;

type KeyWork = (opened: OpenedKeystore) => Promise<number | Refused>;

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
  const work = async ({ config }: KeyOptions, change: KeyWork) => done(await withKeys(io, config, change));
  described(
    program.command('export-keys'),
    'write the keys of all projects to a file',
    "Writes the keys of all projects to a new file, in the format of Zuul's export-keys. The password still protects them.",
  )
    .argument('<file>', 'file to create')
    .action((file: string, options: KeyOptions) =>
      work(options, async opened => (await import('./change-keys.ts')).exportKeys(opened, io, file)),
    );
  described(
    program.command('import-keys'),
    'read keys of projects from a file',
    "Reads keys of projects from a file of export-keys, Zuul's or Gatehouse's, that was written with the same password.",
  )
    .argument('<file>', 'file to read')
    .option('--force', 'replace existing keys')
    .option('--password-file <file>', 'first line: password of the file, where it is another one')
    .action((file: string, options: ImportOptions) =>
      work(options, async opened => (await import('./change-keys.ts')).importKeys(opened, io, file, options)),
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
      work(options, async opened =>
        (await import('./change-keys.ts')).copyKeys(
          opened,
          io,
          { connection, name },
          { connection: toConnection, name: toName },
        ),
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
      work(options, async opened =>
        (await import('./change-keys.ts')).deleteKeys(opened, io, { connection, name }),
      ),
    );
  addDropCommand(described, program, io, done);
}

function addDropCommand(
  described: (command: Command, summary: string, description: string) => Command,
  program: Command,
  io: Io,
  done: Done,
): void {
  described(
    program.command('delete-keystore'),
    'delete the keys of all projects',
    'Deletes the keys of all projects, for a password that is lost or changed. Needs no password; everything that is encrypted is lost.',
  )
    .requiredOption('--yes', 'confirm it')
    .action(async ({ config }: KeyOptions) => {
      const { dropKeystore } = await import('./open-keystore.ts');
      done(await dropKeystore(io, config));
    });
}

/** The commands that ask a service do without the store. */
async function withKeys(io: Io, config: string, change: KeyWork): Promise<number> {
  const { withKeystore } = await import('./open-keystore.ts');
  return withKeystore(io, config, change);
}
