import type { ConfigError } from '../../model/config-error.ts';

/** Errors returned: each is stored with its item or layout, and reports show ten. */
const MOST = 300;

/** The first errors, then one with the number of the others. */
export function boundedErrors(errors: readonly ConfigError[]): readonly ConfigError[] {
  const last = errors[MOST - 1];
  if (last === undefined || errors.length === MOST) return errors;
  const more = { ...last, code: 'more-errors', text: `and ${errors.length - MOST + 1} more errors` };
  return [...errors.slice(0, MOST - 1), more];
}
