/** The manual page, made of the table of commands, in the language of man(7). Pure. */
import type { CommandRow, OptionRow } from './command-table.ts';

/** @param version of the program. */
export function manualText(rows: readonly CommandRow[], version: string): string {
  const [program, ...commands] = rows;
  const globals = program?.options ?? [];
  return [
    `.TH GATEHOUSE 1 "" "Gatehouse ${plain(version)}" "User Commands"`,
    '.SH NAME',
    `gatehouse \\- ${plain(program?.description ?? '')}`,
    '.SH SYNOPSIS',
    '.B gatehouse',
    '.I command',
    '[options]',
    '.SH OPTIONS',
    ...globals.flatMap(optionLines),
    '.SH COMMANDS',
    ...commands.flatMap(commandLines),
    '.SH EXIT STATUS',
    ...[
      '0\tdone',
      '1\tfailed: a line on standard error gives the reason',
      '2\tusage error',
      '130\tinterrupted',
    ].flatMap(row => ['.TP', ...row.split('\t')]),
    '.SH SEE ALSO',
    'gatehouse help',
    '.IR command :',
    'examples of each command.',
    '',
  ].join('\n');
}

function commandLines({ path, usage, description, options }: CommandRow): readonly string[] {
  const name = [path.join(' '), usage].filter(part => part !== '').join(' ');
  return [`.SS ${plain(name)}`, plain(description), ...options.flatMap(optionLines)];
}

function optionLines({ long, short, value, choices, description }: OptionRow): readonly string[] {
  const flags = [short, long].filter(flag => flag !== undefined).join(', ');
  const only = choices.length === 0 ? '' : ` (${choices.join(', ')})`;
  return [
    '.TP',
    `.B ${plain([flags, value].filter(part => part !== undefined).join(' '))}`,
    plain(`${description}${only}`),
  ];
}

/** Text without a meaning for troff. */
function plain(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/\s*\n\s*/g, ' ')
    .replace(/^(?=[.'])/, '\\&');
}
