/** `gatehouse lint`: the configuration of one repository, checked where it is written. No service and no settings are needed. */
import path from 'node:path';
import type { Command } from 'commander';
import { findingText } from '../lint/finding-text.ts';
import { findConfigFiles, readNamedFile } from '../lint/read-files.ts';
import { type Io, print } from '../terminal/io.ts';
import { complain } from './session.ts';

interface LintOptions {
  readonly directory: string;
}

const EXAMPLES = `
Examples:
  gatehouse lint
  gatehouse lint zuul.d/jobs.yaml .zuul.yaml
  gatehouse lint -C ~/src/project-config

With files only their findings are shown; the rest of the repository is read for the names it defines. What other
repositories define, and what the code hosts of pipelines know, is checked by the service, and by "gatehouse config-check".`;

/** @param done gets the exit status: 1 when there is an error, or nothing to check; warnings are none. */
export function addLintCommand(program: Command, io: Io, done: (status: number) => void): void {
  program
    .command('lint')
    .summary('check the configuration in a repository')
    .description('Checks the configuration files of one repository and shows each mistake with its line.')
    .argument('[files...]', 'show findings of these files only')
    .option('-C, --directory <directory>', 'directory of the repository', '.')
    .addHelpText('after', EXAMPLES)
    .action(async (files: readonly string[], options: LintOptions) => done(await lint(io, files, options)));
}

async function lint(io: Io, named: readonly string[], { directory }: LintOptions): Promise<number> {
  const root = path.resolve(directory);
  const found = await findConfigFiles(root);
  const others = await Promise.all(named.map(file => readNamedFile(root, file)));
  const known = new Set(found.map(file => file.path));
  const all = [...found, ...others.filter(file => !known.has(file.path))];
  if (all.length === 0)
    return complain(
      io,
      `${directory} holds no zuul.yaml, .zuul.yaml, zuul.d/ or .zuul.d/; name files, or another directory with -C`,
    );
  const shown = new Set(others.map(file => file.path));
  // Commands that ask a service need not load the parsers.
  const { lintRepository } = await import('../lint/lint-repository.ts');
  const findings = lintRepository(all).filter(finding => named.length === 0 || shown.has(finding.path));
  for (const finding of findings) print(io, findingText(finding));
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const checked = named.length === 0 ? all.length : shown.size;
  const warnings = findings.length - errors;
  io.stderr.write(`${count(checked, 'file')}: ${count(errors, 'error')}, ${count(warnings, 'warning')}\n`);
  return errors > 0 ? 1 : 0;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
