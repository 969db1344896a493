/** `gatehouse hook install`: a push to a repository of this machine reaches the gate immediately. */
import type { Command } from 'commander';
import type { InstalledHook } from '../init/install-hook.ts';
import { type Io, print } from '../terminal/io.ts';
import { DEFAULT_CONFIG } from './find-socket.ts';
import { complain } from './session.ts';

interface HookOptions {
  readonly config?: string;
  readonly connection?: string;
  readonly project?: string;
  readonly url?: string;
}

const EXAMPLES = `
Examples:
  gatehouse hook install /srv/git/acme/app.git -c /srv/gate/gatehouse.conf
  gatehouse hook install /home/git/app.git --connection local --project acme/app

May be repeated, e.g. after a change of the settings. A post-receive hook of your own is kept. Run it as the owner of the repository.`;

/** @param done gets the exit status: 1 when the hook is not installed, or when another one does not call it yet. */
export function addHookCommands(program: Command, io: Io, done: (status: number) => void): void {
  program
    .command('hook')
    .summary('hooks of repositories: hook install')
    .description('Hooks of repositories that the git driver reads.')
    .command('install')
    .summary('install the hook that notifies the gate of pushes')
    .description(
      'Installs the post-receive hook of the git driver in a repository of this machine, so that the gate learns of pushes immediately instead of at its next poll.',
    )
    .argument('<repository>', 'a bare repository, or the directory that holds .git')
    .option(
      '-c, --config <file>',
      `settings of the service (default: $GATEHOUSE_CONFIG, else ${DEFAULT_CONFIG})`,
    )
    .option(
      '--connection <name>',
      'NAME of its [connection NAME] (default: the one below whose baseurl it is)',
    )
    .option('--project <name>', 'name of the project (default: its path below baseurl)')
    .option(
      '--url <address>',
      'address of the web, from that machine (default: [web] listen_address and port)',
    )
    .addHelpText('after', EXAMPLES)
    .action(async (repository: string, options: HookOptions) =>
      done(await hookInstall(io, repository, options)),
    );
}

async function hookInstall(io: Io, repository: string, options: HookOptions): Promise<number> {
  const { GATEHOUSE_CONFIG = '' } = io.environment;
  const { installHook } = await import('../init/install-hook.ts');
  try {
    const hook = await installHook({
      repository,
      config: options.config ?? (GATEHOUSE_CONFIG === '' ? DEFAULT_CONFIG : GATEHOUSE_CONFIG),
      connection: options.connection,
      project: options.project,
      url: options.url,
      environment: io.environment,
    });
    if (hook.kind === 'refused') return complain(io, hook.text);
    return report(io, hook);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return complain(io, error.message);
  }
}

function report(
  io: Io,
  { installation, project, connection, url, inTenant, tenantFile }: InstalledHook,
): number {
  const about = `${project} of connection ${connection} at ${url}`;
  if (inTenant === false)
    io.stderr.write(
      `warning: no tenant has ${project}: add "- ${project}" to untrusted-projects of ${connection} in ${tenantFile}, and restart the service\n`,
    );
  if (installation.kind === 'installed') {
    print(io, `${installation.changed ? 'installed' : 'unchanged'}  ${installation.path}: notifies ${about}`);
    return 0;
  }
  const { path, script, called } = installation;
  print(io, `installed  ${script}: notifies ${about}`);
  if (called) {
    print(io, `kept       ${path}, which calls it`);
    return 0;
  }
  print(io, `kept       ${path}, another hook; add this line to it:\n\n  ${script} </dev/null\n`);
  return complain(io, `pushes are not notified until ${path} calls the script`);
}
