/** `gatehouse completion` and `gatehouse man`: the table of commands for shells and for people. */
import { Argument, type Command } from 'commander';
import { type Io, print } from '../terminal/io.ts';
import { VERSION } from '../version.ts';
import { commandRows } from './command-table.ts';
import { completionText, SHELLS, type Shell } from './completion-text.ts';
import { manualText } from './manual-text.ts';

const EXAMPLES = `
Examples:
  source <(gatehouse completion bash)                                                  in ~/.bashrc
  gatehouse completion zsh >"\${fpath[1]}/_gatehouse"
  gatehouse completion fish >~/.config/fish/completions/gatehouse.fish`;

const MAN_EXAMPLES = `
Examples:
  gatehouse man | man -l -
  gatehouse man >/usr/local/share/man/man1/gatehouse.1`;

/** To be called last: the tables are made when they are asked for. @param done gets the exit status, which is 0. */
export function addCompletionCommands(program: Command, io: Io, done: (status: number) => void): void {
  program
    .command('completion')
    .summary('print the completion for a shell')
    .description('Prints a script with which a shell completes commands, options and their values.')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', EXAMPLES)
    .action((shell: Shell) => {
      print(io, completionText(shell, commandRows(program)).trimEnd());
      done(0);
    });
  program
    .command('man')
    .summary('print the manual page')
    .description('Prints the manual page of all commands and options, for man.')
    .addHelpText('after', MAN_EXAMPLES)
    .action(() => {
      print(io, manualText(commandRows(program), VERSION).trimEnd());
      done(0);
    });
}
