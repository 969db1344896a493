/** `gatehouse config-check`: every error of a configuration with its location, and a summary of the configuration. */
import type { Command } from 'commander';
import { painter } from '../../lib/ansi.ts';
import { type Io, print, printJson } from '../terminal/io.ts';
import { hasColour, styleOf } from '../terminal/style.ts';
import type { CheckedConfig, CheckOptions } from './check-config.ts';
import { summaryLines } from './config-check-text.ts';
import { summaryOf } from './config-summary.ts';
import { DEFAULT_CONFIG } from './find-socket.ts';

interface ConfigCheckOptions {
  readonly config: string;
  readonly layout?: boolean;
  readonly online?: boolean;
  readonly json?: boolean;
  readonly color: boolean;
}

const INTERRUPTED = 130;

const EXAMPLES = `
Examples:
  gatehouse config-check -c etc/gatehouse.conf
  gatehouse config-check -c etc/gatehouse.conf --layout
  gatehouse config-check -c etc/gatehouse.conf --online
  gatehouse config-check -c etc/gatehouse.conf --json | jq -r '.errors[]'

Errors go to stderr, one line each: file, line, problem, remedy. Nothing is started and nothing is written, neither here
nor at a code host.`;

/** @param done gets the exit status: 1 when there is an error; warnings do not count. */
export function addConfigCheckCommand(program: Command, io: Io, done: (status: number) => void): void {
  program
    .command('config-check')
    .summary('check the settings, the tenants and the layouts')
    .description(
      "Checks the settings file, the tenant file it names and, with --layout, the projects' own configuration. With --online, asks the code hosts whether repositories and credentials serve what the pipelines want.",
    )
    .option('-c, --config <file>', 'settings file', DEFAULT_CONFIG)
    .option('-l, --layout', "also fetch the projects' branches and check their configuration")
    .option('--online', 'as --layout, and ask the code hosts whether they serve what the pipelines want')
    .option('--json', 'print JSON')
    .option('--no-color', 'print without colours; also NO_COLOR=1')
    .addHelpText('after', EXAMPLES)
    .action(async (options: ConfigCheckOptions) => done(await configCheck(io, options)));
}

async function configCheck(
  io: Io,
  { config, layout = false, online = false, json = false, color }: ConfigCheckOptions,
): Promise<number> {
  const depth = online ? 'online' : layout ? 'layout' : 'settings';
  const signal = io.interrupted();
  try {
    const { checkConfig } = await import('./check-config.ts');
    const checked = await checkConfig({ file: config, environment: io.environment, depth, signal });
    if (json) printJson(io, asJson(checked));
    else showCheck(io, checked, { depth, color });
    return checked.errors.length === 0 ? 0 : 1;
  } catch (error) {
    if (!signal.aborted) throw error;
    return INTERRUPTED;
  }
}

function asJson(checked: CheckedConfig) {
  const { errors, warnings, online } = checked;
  return {
    ok: errors.length === 0,
    errors,
    warnings,
    ...summaryOf(checked),
    ...(online === undefined ? {} : { online }),
  };
}

function showCheck(
  io: Io,
  checked: CheckedConfig,
  { depth, color }: { readonly depth: CheckOptions['depth']; readonly color: boolean },
): void {
  const style = styleOf(io, color);
  const paint = painter(style.colour);
  const loud = painter(color && hasColour(io.stderr, io.environment));
  const summary = summaryOf(checked);
  if (summary !== undefined)
    print(io, `${summaryLines(summary, { width: style.width, paint }).join('\n')}\n`);
  for (const error of checked.errors) io.stderr.write(`${loud('error:', 'red')} ${error}\n`);
  for (const warning of checked.warnings) io.stderr.write(`${loud('warning:', 'yellow')} ${warning}\n`);
  const count = checked.errors.length;
  if (count > 1) io.stderr.write(`${count} errors\n`);
  if (count === 0) print(io, `${paint('✓', 'green')} no errors${scopeText(checked, depth)}`);
}

/** What was looked at, or what else could be. */
function scopeText({ online }: CheckedConfig, depth: CheckOptions['depth']): string {
  if (depth === 'settings') return "; --layout also checks the projects' own configuration";
  if (depth === 'layout') return '; --online also asks the code hosts for contradictions';
  const asked = (online?.asked ?? []).map(
    ({ connection, projects }) =>
      `${connection} about ${projects} ${projects === 1 ? 'project' : 'projects'}`,
  );
  return asked.length === 0
    ? '; no connection has a host that could be asked for contradictions'
    : `; asked ${asked.join(', ')}`;
}
