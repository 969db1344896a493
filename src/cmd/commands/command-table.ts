/** The commands as data: what help, completion and the manual page are made of. */
import type { Command, Option } from 'commander';

/** An option, as the command line has it. */
export interface OptionRow {
  /** `--tenant`; undefined: it has only a short form. */
  readonly long: string | undefined;
  /** `-c`. */
  readonly short: string | undefined;
  /** `<file>`; undefined: it takes none. */
  readonly value: string | undefined;
  /** The only values; empty: any. */
  readonly choices: readonly string[];
  readonly description: string;
}

/** A command, or the program itself with an empty path. */
export interface CommandRow {
  /** `['store', 'dump']` */
  readonly path: readonly string[];
  /** `<item> [change]`; empty: none. */
  readonly usage: string;
  readonly summary: string;
  readonly description: string;
  readonly options: readonly OptionRow[];
  /** Names of the commands below it. */
  readonly commands: readonly string[];
  /** The only values of its arguments; empty: any. */
  readonly words: readonly string[];
}

/** @param program complete. @returns the program, then each command, with those below it. */
export function commandRows(program: Command): readonly CommandRow[] {
  return rowsBelow(program, []);
}

function rowsBelow(command: Command, path: readonly string[]): readonly CommandRow[] {
  const help = command.createHelp();
  const below = help.visibleCommands(command).filter(each => each.name() !== 'help');
  const row: CommandRow = {
    path,
    usage: command.registeredArguments.map(argumentText).join(' '),
    summary: command.summary(),
    description: command.description(),
    options: help.visibleOptions(command).map(optionRow),
    commands: below.map(each => each.name()),
    words: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
  };
  return [row, ...below.flatMap(each => rowsBelow(each, [...path, each.name()]))];
}

function argumentText(argument: Command['registeredArguments'][number]): string {
  const text = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${text}>` : `[${text}]`;
}

function optionRow({ long, short, flags, required, optional, argChoices, description }: Option): OptionRow {
  return {
    long: long ?? undefined,
    short: short ?? undefined,
    value: required || optional ? (/[<[].*$/.exec(flags)?.[0] ?? '<value>') : undefined,
    choices: argChoices ?? [],
    description,
  };
}
