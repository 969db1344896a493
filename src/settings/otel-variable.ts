/** One variable of the environment as an option with its place, `$NAME`. An empty one counts as unset. */
import type { OptionProblem, OptionValue } from '../lib/option-reader.ts';
import type { Environment } from './interpolate.ts';

/** The first of these variables that is set. */
export function firstSet(names: readonly string[], environment: Environment): OptionValue | undefined {
  const name = names.find(candidate => environment[candidate]?.trim());
  return name === undefined ? undefined : fromVariable(name, environment[name] ?? '');
}

/** Its place is `$NAME` with line 0: errors name the variable, see {@link isFromVariable}. */
export function fromVariable(name: string, value: string): OptionValue {
  return { value: value.trim(), at: { file: `$${name}`, line: 0 } };
}

/** A problem of the variable itself, which belongs to no option of `[tracing]` or makes none of it. */
export function variableProblem(name: string, reason: string): OptionProblem {
  return { at: { file: `$${name}`, line: 0 }, section: 'tracing', reason };
}

/** Whether an option comes from the environment: those are often set for other programs. */
export function isFromVariable({ at }: Pick<OptionProblem, 'at'>): boolean {
  return at.file.startsWith('$');
}
