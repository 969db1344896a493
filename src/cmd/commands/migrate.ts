/** `gatehouse migrate`: what becomes of a zuul.conf here, and the file as Gatehouse has it. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { type OptionProblem, showOptionProblem } from '../../lib/option-reader.ts';
import { type IniFile, parseIni } from '../../settings/ini-file.ts';
import { parseSettings } from '../../settings/parse-settings.ts';
import { translateZuul, type ZuulNote } from '../../settings/translate-zuul.ts';
import { type Io, print } from '../terminal/io.ts';
import { rewriteConf } from './rewrite-conf.ts';
import { complain } from './session.ts';

const EXAMPLES = `
Examples:
  gatehouse migrate /etc/zuul/zuul.conf
  gatehouse migrate /etc/zuul/zuul.conf -o /etc/gatehouse/gatehouse.conf

Reads the file alone: no service is asked and nothing is started. A file that exists is never overwritten.`;

/** @param done gets the exit status: 1 when something must change, or the file cannot be read or written. */
export function addMigrateCommand(program: Command, io: Io, done: (status: number) => void): void {
  program
    .command('migrate')
    .summary('show what becomes of a zuul.conf')
    .description(
      'Shows what of a zuul.conf counts, what has no effect and what must change, and writes the file as Gatehouse has it.',
    )
    .argument('<file>', "Zuul's zuul.conf")
    .option('-o, --output <file>', 'write the new file there; it must not exist')
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, { output }: { readonly output?: string }) =>
      done(await migrate(io, file, output)),
    );
}

async function migrate(io: Io, file: string, output: string | undefined): Promise<number> {
  let content: Buffer;
  try {
    content = await readFile(file);
  } catch (error) {
    return complain(io, `${file} cannot be read (${codeOf(error)})`);
  }
  const ini = parseIni(content, file);
  const { notes } = translateZuul(ini.sections);
  const { mustChange, variables } = problemsOf(content, file, io);
  for (const line of reportLines(ini, notes, mustChange, variables)) print(io, line);
  if (output !== undefined) {
    const text = rewriteConf(content.toString('utf8'), ini, notes, mustChange);
    try {
      // It may hold secrets.
      await writeFile(output, text, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      const code = codeOf(error);
      const reason = code === 'EEXIST' ? 'exists already; name another file' : `cannot be written (${code})`;
      return complain(io, `${output} ${reason}`);
    }
    print(io, `\nwritten: ${output}; check it with "gatehouse config-check -c ${output}"`);
  }
  return mustChange.length > 0 ? 1 : 0;
}

/** An environment variable that is not set here may be set where the service runs. */
function problemsOf(content: Buffer, file: string, { environment }: Io) {
  const directory = path.dirname(path.resolve(file));
  const parsed = parseSettings({ content, file, directory, environment });
  const problems = parsed.kind === 'invalid' ? parsed.problems : [];
  const isVariable = ({ reason }: OptionProblem) => /^environment variable \S+ is not set$/.test(reason);
  return {
    mustChange: problems.filter(problem => !isVariable(problem)),
    variables: problems.filter(isVariable).map(({ reason }) => reason.split(' ')[2] ?? ''),
  };
}

function reportLines(
  ini: IniFile,
  notes: readonly ZuulNote[],
  mustChange: readonly OptionProblem[],
  variables: readonly string[],
): readonly string[] {
  const nameOf = ({ section, option }: ZuulNote) =>
    [`[${section}]`, ...(option === undefined ? [] : [option])].join(' ');
  const ignored = notes.flatMap(note =>
    note.fate.kind === 'ignored' ? [`${nameOf(note)}: ${note.fate.why}`] : [],
  );
  const renamed = notes.flatMap(note =>
    note.fate.kind === 'renamed' ? [`${nameOf(note)} is [${note.fate.section}] ${note.fate.option}`] : [],
  );
  return [
    ...group('counts as it is', keptLines(ini, notes, mustChange)),
    ...group('counts under another name', renamed),
    ...group('has no effect', ignored),
    ...group('is shared with a Zuul that still runs: choose another directory', sharedPaths(ini)),
    ...group('is to be set in the environment of the service', [...new Set(variables)]),
    ...group('must change', mustChange.map(showOptionProblem)),
    ...(mustChange.length === 0 ? ['', 'nothing must change'] : []),
  ];
}

/** Options that are neither translated nor a problem, by section. */
function keptLines(
  { sections }: IniFile,
  notes: readonly ZuulNote[],
  mustChange: readonly OptionProblem[],
): readonly string[] {
  const other = new Set([...notes.map(({ line }) => line), ...mustChange.map(({ at }) => at.line)]);
  return [...sections.values()].flatMap(({ name, line, options }) => {
    const kept = [...options].filter(([, option]) => !other.has(option.line)).map(([option]) => option);
    return other.has(line) || kept.length === 0 ? [] : [`[${name}] ${kept.join(', ')}`];
  });
}

const DIRECTORIES = ['state_dir', 'git_dir', 'job_dir', 'log_dir'];

function sharedPaths({ sections }: IniFile): readonly string[] {
  return [...sections.values()].flatMap(({ name, options }) =>
    [...options].flatMap(([option, { raw }]) =>
      DIRECTORIES.includes(option) && raw.startsWith('/var/lib/zuul') ? [`[${name}] ${option} = ${raw}`] : [],
    ),
  );
}

function group(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map(line => `  ${line}`)];
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
