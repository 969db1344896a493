/** Width and colours of an answer. */
import type { Io, TextStream } from './io.ts';

/** How an answer is drawn; read anew for each picture. */
export interface TerminalStyle {
  /** Columns, 60 to 220. */
  readonly width: number;
  readonly colour: boolean;
}

const UNKNOWN_WIDTH = 100;
const NARROWEST = 60;
const WIDEST = 220;

/**
 * Width: `COLUMNS`, else the terminal's, else 100. Colour: on terminals, unless `--no-color`, `NO_COLOR` or `TERM=dumb` disables it;
 * `FORCE_COLOR` enables it for pipes, e.g. for `less -R`.
 *
 * @param wanted false: `--no-color` was given.
 */
export function styleOf(
  { stdout, environment }: Pick<Io, 'stdout' | 'environment'>,
  wanted: boolean,
): TerminalStyle {
  return { width: widthOf(stdout, environment.COLUMNS), colour: wanted && hasColour(stdout, environment) };
}

/** Of this stream: standard output and error may differ. `NO_COLOR` wins over `FORCE_COLOR`. */
export function hasColour({ isTTY }: TextStream, environment: Io['environment']): boolean {
  const isSet = (name: string) => (environment[name] ?? '') !== '';
  if (isSet('NO_COLOR')) return false;
  if (isSet('FORCE_COLOR')) return environment.FORCE_COLOR !== '0';
  return isTTY === true && environment.TERM !== 'dumb';
}

function widthOf({ columns }: TextStream, variable: string | undefined): number {
  const asked = /^\d{1,4}$/.test(variable ?? '') ? Number(variable) : 0;
  const width = asked > 0 ? asked : (columns ?? 0) > 0 ? (columns ?? 0) : UNKNOWN_WIDTH;
  return Math.min(WIDEST, Math.max(NARROWEST, width));
}
