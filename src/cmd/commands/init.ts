/** `gatehouse init`: the files of a first gate in front of repositories on this machine. */
import { randomBytes } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { ownFile } from '../../lib/own-file.ts';
import type { MadeSite } from '../init/make-site.ts';
import { type Io, print } from '../terminal/io.ts';
import { complain } from './session.ts';

interface InitOptions {
  readonly repositories?: string;
  readonly tenant: string;
  readonly configProject: string;
  readonly port: number;
}

const EXAMPLES = `
Examples:
  gatehouse init /srv/gate --repositories /srv/git
  gatehouse init gate --tenant acme --config-project acme/config

Nothing is asked and no file is overwritten. Bare repositories below --repositories are gated; those that come later are added to tenants.yaml.`;

/** @param done gets the exit status: 1 when something is in the way; then nothing was made. */
export function addInitCommand(program: Command, io: Io, done: (status: number) => void): void {
  program
    .command('init')
    .summary('make the files of a first gate')
    .description(
      'Makes settings, tenant file, a config project with pipelines check and gate, a unit for systemd and an example of a job, for the git driver.',
    )
    .argument('<directory>', 'where they are made; absent or empty')
    .option('--repositories <dir>', 'where your bare repositories are (default: git below the directory)')
    .option('--tenant <name>', 'name of the tenant', 'main')
    .option('--config-project <name>', 'name of the repository with the pipelines, which is made', 'config')
    .option('--port <number>', 'port of the page on 127.0.0.1', parsePort, 9000)
    .addHelpText('after', EXAMPLES)
    .action(async (directory: string, options: InitOptions) => done(await init(io, directory, options)));
}

/** @throws InvalidArgumentError */
function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535)
    throw new InvalidArgumentError('It must be a number from 1 to 65535.');
  return port;
}

async function init(io: Io, wanted: string, options: InitOptions): Promise<number> {
  const directory = path.resolve(wanted);
  const { makeSite } = await import('../init/make-site.ts');
  try {
    const made = await makeSite({
      ...options,
      directory,
      repositories: path.resolve(options.repositories ?? path.join(directory, 'git')),
      token: randomBytes(32).toString('hex'),
      command: [process.execPath, ownFile('bin/gatehouse.mjs')],
      user: userInfo().username,
    });
    if (made.kind === 'refused') return complain(io, made.text);
    print(io, madeLines(made, options.port).join('\n'));
    if (!hasProgram('bwrap', io.environment.PATH))
      io.stderr.write(
        'warning: bubblewrap is not installed, and without it jobs are refused: apt-get install bubblewrap, or dnf install bubblewrap\n',
      );
    return 0;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return complain(io, error.message);
  }
}

function madeLines(made: MadeSite, port: number): readonly string[] {
  const { paths, complete } = made.found;
  const gated = paths.size === 0 ? 'no repository yet' : shortened([...paths.keys()]);
  const [first = '<repository>'] = paths.values();
  return [
    `made  ${made.settings}    settings of the service, with the secret of the hooks`,
    `made  ${made.tenants}    what is gated: ${gated}${complete ? '' : '; the search ended early, add others'}`,
    `made  ${made.configRepository}    pipelines check and gate, and its hook`,
    `made  ${made.configClone}    a clone of that, to work in`,
    `made  ${made.example}    a first job, to be copied into a repository`,
    `made  ${made.unit}    unit for systemd`,
    '',
    'Next:',
    `  gatehouse hook install ${first} -c ${made.settings}`,
    `  gatehouse start -c ${made.settings}`,
    '  git push origin HEAD:for/master/first HEAD:gate/master/first',
    '',
    `The last one in a clone whose commit has a job, such as that of ${made.example}. Watch it at http://127.0.0.1:${port}/.`,
  ];
}

const NAMED = 5;

function shortened(names: readonly string[]): string {
  const more = names.length - NAMED;
  return more > 0 ? `${names.slice(0, NAMED).join(', ')} and ${more} more` : names.join(', ');
}

function hasProgram(name: string, searchPath = ''): boolean {
  return searchPath.split(path.delimiter).some(folder => {
    try {
      accessSync(path.join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
