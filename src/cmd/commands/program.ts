/**
 * The program: every command, usage errors, and the exit status.
 *
 *     0  done          1  failed: one line on stderr gives the reason          2  usage error          130  interrupted
 *
 * (`run` has one more: run.ts.)
 *
 * Map of this folder:
 *
 *     session.ts                          what commands that ask the service share: options, API client, tenant; find-socket.ts
 *     status.ts, trace.ts (trace-diff.ts), explain.ts, why.ts, delays.ts, eta.ts, builds.ts, log.ts, tests.ts, open.ts     commands that read; find-item.ts: the item a
 *                                         user names; checkout-project.ts: the project of a checkout; lines-of.ts: a stream by lines
 *     enqueue.ts, dequeue.ts, rerun.ts, promote.ts, pipeline.ts, components.ts   commands that change something (operator-request.ts)
 *     nodes.ts, autohold.ts               hosts of jobs: shown, held, released; held when a job fails
 *     encrypt.ts, keys.ts                 keys of projects: change-keys.ts, open-keystore.ts
 *     quickstart.ts, init.ts, hook.ts     a demo (../quickstart/), and a first gate (../init/: make-site, install-hook)
 *     config-check.ts, create-auth-token.ts, github.ts, store.ts, trace-export.ts    commands that need no running service
 *     lint.ts                             the configuration in a repository (../lint/: read-files, lint-repository, check-references, finding-text)
 *     freeze.ts                           which jobs a branch runs, and what one comes to; chosen-tenant.ts
 *     run.ts                              one job of a checkout, run here (../run/: prepare-run begins)
 *     completion.ts                       the commands for shells and for man: command-table.ts, manual-text.ts, completion-text.ts
 *     schema.ts                           the configuration language for editors
 *     migrate.ts (rewrite-conf.ts)        what becomes of a zuul.conf
 *     check-config.ts, check-online.ts, export-traces.ts    their work, loaded when called: read-branch-configs.ts, config-summary.ts,
 *                                         stopped-store.ts
 *     *-text                              what a command prints, as a pure function of documents; decision-groups.ts
 *     item-notes.ts, item-state.ts, job-text.ts    pieces of those texts
 *
 * A command is one file with `add…Command`, its help and its work. It uses the process only through {@link Io} and returns its exit
 * status; an expected failure is a {@link import('./refused.ts').Refused}.
 */
import { Argument, Command, CommanderError } from 'commander';
import { randomIds } from '../../lib/ids.ts';
import { COMPONENT_KINDS } from '../../store/paths.ts';
import { commandTrace } from '../client/command-trace.ts';
import type { ComponentName } from '../service/core.ts';
import type { Io } from '../terminal/io.ts';
import { VERSION } from '../version.ts';
import { addBuildsCommand } from './builds.ts';
import { addCompletionCommands } from './completion.ts';
import { addComponentCommands } from './components.ts';
import { addConfigCheckCommand } from './config-check.ts';
import { addCreateAuthTokenCommand } from './create-auth-token.ts';
import { addDelaysCommands } from './delays.ts';
import { addDequeueCommand } from './dequeue.ts';
import { addEncryptCommand } from './encrypt.ts';
import { addEnqueueCommands } from './enqueue.ts';
import { addEtaCommand } from './eta.ts';
import { addExplainCommand } from './explain.ts';
import { DEFAULT_CONFIG } from './find-socket.ts';
import { addFreezeCommands } from './freeze.ts';
import { addGithubCommands } from './github.ts';
import { addHookCommands } from './hook.ts';
import { addInitCommand } from './init.ts';
import { addKeyCommands } from './keys.ts';
import { addLintCommand } from './lint.ts';
import { addLogCommand } from './log.ts';
import { addMigrateCommand } from './migrate.ts';
import { addNodeCommands } from './nodes.ts';
import { addOpenCommand } from './open.ts';
import { addPipelineCommands } from './pipeline.ts';
import { addPromoteCommand } from './promote.ts';
import { addQuickstartCommand } from './quickstart.ts';
import { addRerunCommand } from './rerun.ts';
import { addRunCommand } from './run.ts';
import { addSchemaCommand } from './schema.ts';
import { addStatusCommand } from './status.ts';
import { addStoreCommands } from './store.ts';
import { addTestsCommand } from './tests.ts';
import { addTraceCommand } from './trace.ts';
import { addWhyCommand } from './why.ts';

const USAGE_ERROR = 2;

const EXAMPLES = `
Examples:
  gatehouse config-check -c etc/gatehouse.conf --layout
  gatehouse start -c etc/gatehouse.conf
  gatehouse status --watch
  gatehouse why acme/app master/login
  gatehouse trace acme/app master/login --follow
  gatehouse delays gate --since 24h
  gatehouse log 3832c7a4d82fbf2e6cc9850569e5ce9b --follow

"gatehouse help <command>" describes each command. Commands find the service at $GATEHOUSE_URL.`;

const START_EXAMPLES = `
Examples:
  gatehouse start -c /etc/gatehouse/gatehouse.conf
  gatehouse start scheduler web -c /etc/gatehouse/gatehouse.conf        with [zookeeper]
  gatehouse config-check -c /etc/gatehouse/gatehouse.conf && gatehouse start -c /etc/gatehouse/gatehouse.conf

Stop it with SIGINT or SIGTERM: accepted work is durable and continues at the next start.`;

/** @param args without the program's own name. @returns the exit status. */
export async function runProgram(args: readonly string[], io: Io): Promise<number> {
  let status = 0;
  const trace = commandTrace({ ...io, ids: randomIds() });
  const program = createProgram(trace === undefined ? io : { ...io, trace }, result => {
    status = result;
  });
  program.hook('preAction', (_program, command) => trace?.named(fullName(command)));
  try {
    await program.parseAsync(args, { from: 'user' });
    return status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_ERROR;
    throw error;
  }
}

/** `store dump`: without the program's own name. */
function fullName(command: Command): string {
  const { parent } = command;
  return parent === null || parent.parent === null ? command.name() : `${fullName(parent)} ${command.name()}`;
}

function createProgram(io: Io, done: (status: number) => void): Command {
  const program = new Command('gatehouse')
    .description('Project gating that explains itself.')
    .version(VERSION, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .exitOverride()
    .configureOutput({
      writeOut: text => io.stdout.write(text),
      writeErr: text => io.stderr.write(text),
      getOutHelpWidth: () => helpWidth(io.stdout.columns),
      getErrHelpWidth: () => helpWidth(io.stderr.columns),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .configureHelp({ subcommandTerm: commandTerm, minWidthToWrap: 40 })
    .showHelpAfterError('See "gatehouse --help" and "gatehouse help <command>".')
    .showSuggestionAfterError()
    .addHelpText('after', EXAMPLES);

  program
    .command('start')
    .summary('run the service until SIGINT or SIGTERM')
    .description('Runs the service in the foreground until SIGINT or SIGTERM.')
    .addArgument(new Argument('[components...]', 'components to run (default: all)').choices(COMPONENT_KINDS))
    .option('-c, --config <file>', 'settings file', DEFAULT_CONFIG)
    .addHelpText('after', START_EXAMPLES)
    .action(async (components: ComponentName[], options: { config: string }) => {
      // Commands that ask a service need not load one.
      const { start } = await import('../start.ts');
      done(await start(options.config, components));
    });
  addQuickstartCommand(program, io, done);
  addInitCommand(program, io, done);
  addHookCommands(program, io, done);
  addStatusCommand(program, io, done);
  addTraceCommand(program, io, done);
  addExplainCommand(program, io, done);
  addDelaysCommands(program, io, done);
  addEtaCommand(program, io, done);
  addBuildsCommand(program, io, done);
  addLogCommand(program, io, done);
  addOpenCommand(program, io, done);
  addTestsCommand(program, io, done);
  addWhyCommand(program, io, done);
  addEnqueueCommands(program, io, done);
  addDequeueCommand(program, io, done);
  addPromoteCommand(program, io, done);
  addRerunCommand(program, io, done);
  addPipelineCommands(program, io, done);
  addComponentCommands(program, io, done);
  addNodeCommands(program, io, done);
  addConfigCheckCommand(program, io, done);
  addCreateAuthTokenCommand(program, io, done);
  addMigrateCommand(program, io, done);
  addLintCommand(program, io, done);
  addSchemaCommand(program, io, done);
  addFreezeCommands(program, io, done);
  addRunCommand(program, io, done);
  addEncryptCommand(program, io, done);
  addKeyCommands(program, io, done);
  addGithubCommands(program, io, done);
  addStoreCommands(program, io, done);
  addCompletionCommands(program, io, done);
  return program;
}

/** `trace <item> [change]`, without `[options]`, which every command has. */
function commandTerm(command: Command): string {
  const args = command.registeredArguments.map(argument => {
    const text = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${text}>` : `[${text}]`;
  });
  return [command.name(), ...args].join(' ');
}

function helpWidth(columns: number | undefined): number {
  return Math.min(100, columns ?? 100);
}
