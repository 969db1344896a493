/** `gatehouse quickstart`: see a gate at work. */
import { type Command, Option } from 'commander';
import type { QuickstartOptions } from '../quickstart/quickstart.ts';
import type { Io } from '../terminal/io.ts';
import { complain } from './session.ts';

const EXAMPLES = `
Examples:
  gatehouse quickstart
  gatehouse quickstart --once --json report.json

It makes repositories, settings and state below --directory, and nothing elsewhere.`;

/** @param done gets the exit status: 1 when it failed or, with --once, when an outcome is not the expected one. */
export function addQuickstartCommand(program: Command, io: Io, done: (status: number) => void): void {
  program
    .command('quickstart')
    .summary('see a gate at work: six changes go through it')
    .description(
      'Makes repositories, starts the service, drives six changes through the gate, with a hidden incompatibility and a conflict among them, and serves until Ctrl-C.',
    )
    .option('--once', 'exit when the demo is done; status 0 only if every outcome is the expected one', false)
    .option('--json <file>', 'write the results to a file')
    .option('--directory <dir>', 'working directory; emptied first', '.quickstart')
    .option('--port <port>', 'preferred port of the status page', '9000')
    .option('--github', 'gate pull requests of a GitHub for tests, which runs on this machine', false)
    .addOption(
      new Option(
        '--gerrit',
        'gate changes of a Gerrit for tests, which runs on this machine, or of a real one that GERRIT_WAR or GERRIT_URL names',
      )
        .default(false)
        .conflicts('github'),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (options: QuickstartOptions) => {
      const { quickstart } = await import('../quickstart/quickstart.ts');
      try {
        done(await quickstart(options));
      } catch (error) {
        done(complain(io, error instanceof Error ? error.message : String(error)));
      }
    });
}
