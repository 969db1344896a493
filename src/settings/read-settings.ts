import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type OptionProblem, showOptionProblem } from '../lib/option-reader.ts';
import { showPosition } from '../lib/text-position.ts';
import type { Environment } from './interpolate.ts';
import { parseSettings, type SettingOverrides } from './parse-settings.ts';
import type { Settings } from './settings.ts';

/** `warnings` are lines for the log: the process starts regardless of them. */
export type ReadSettings<Wanted extends keyof Settings = keyof Settings> =
  | {
      readonly kind: 'settings';
      readonly settings: Pick<Settings, Wanted>;
      readonly warnings: readonly string[];
    }
  /** Each error is one line for the operator, ready to print. */
  | { readonly kind: 'invalid'; readonly errors: readonly string[] };

/**
 * Reads all of the settings file, at the start of a process, before any port opens.
 *
 * @param file as given on the command line; shown like that in errors.
 */
export function readSettings(file: string, environment: Environment): ReadSettings {
  return readSections(file, environment, {});
}

/** What a command needs of the file. The service itself reads all of it, see {@link readSettings}. */
export interface WantedSections<Wanted extends keyof Settings> {
  /** Errors in other sections are ignored. Default all. */
  readonly wanted?: readonly Wanted[];
  /** Of the command line, e.g. `tracing` → `endpoint`. */
  readonly overrides?: SettingOverrides;
}

/** Reads the sections one command needs. */
export function readSections<Wanted extends keyof Settings>(
  file: string,
  environment: Environment,
  { wanted, overrides }: WantedSections<Wanted>,
): ReadSettings<Wanted> {
  let content: Uint8Array;
  let mode: number;
  try {
    content = readFileSync(file);
    mode = statSync(file).mode;
  } catch (error) {
    return {
      kind: 'invalid',
      errors: [`${file}: cannot be read (${errorCode(error)}); name another file with --config`],
    };
  }
  const directory = dirname(resolve(file));
  const source = { content, file, directory, environment, ...(overrides === undefined ? {} : { overrides }) };
  const parsed = parseSettings(source, wanted);
  if (parsed.kind === 'invalid') return { kind: 'invalid', errors: parsed.problems.map(showOptionProblem) };
  return {
    kind: 'settings',
    settings: parsed.settings,
    warnings: [
      ...parsed.warnings.map(showOptionProblem),
      ...secretWarnings(file, mode, parsed.secretsInFile),
    ],
  };
}

const READABLE_BY_ALL = 0o004;

function secretWarnings(
  file: string,
  mode: number,
  secretsInFile: readonly OptionProblem[],
): readonly string[] {
  const [first] = secretsInFile;
  if (first === undefined || (mode & READABLE_BY_ALL) === 0) return [];
  const place = showPosition(first.at);
  return [
    `${place}: [${first.section}] ${first.option}: is a secret, but all users may read the file; chmod o-r ${file}`,
  ];
}

function errorCode(error: unknown): string {
  if (!(error instanceof Error)) throw error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
