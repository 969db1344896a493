/** The command line. */
import { Command } from 'commander';
import { COMPONENTS, start } from './start.ts';
import { VERSION } from './version.ts';

const DEFAULT_CONFIG = '/etc/gatehouse/gatehouse.conf';

const program = new Command('gatehouse')
  .description('Project gating that explains itself.')
  .version(VERSION)
  .showHelpAfterError('(gatehouse --help tells more)')
  .showSuggestionAfterError();

program
  .command('start')
  .description('run the service in the foreground until SIGINT or SIGTERM')
  .argument('[components...]', `which of ${COMPONENTS.join(', ')} to run; default all`)
  .option('-c, --config <file>', 'settings file', DEFAULT_CONFIG)
  .action(async (components: string[], options: { config: string }) => {
    process.exitCode = await start(options.config, components);
  });

await program.parseAsync();
