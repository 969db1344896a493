/** The environment, as `process.env` has it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** `invalid`: a variable is not set or a `%` stands alone; `reason` never holds a variable's value. */
export type Interpolated =
  | {
      readonly kind: 'text';
      readonly text: string;
      /** The value consists of variables only: its text is not in the file. */
      readonly fromEnvironment: boolean;
    }
  | { readonly kind: 'invalid'; readonly reason: string };

/**
 * Substitutes `%(VAR)s` by environment variable VAR and `%%` by `%`.
 *
 * Substituted text is final: a `%` in a variable's value means itself. (Python would interpolate it again and fail on
 * passwords with a percent sign.)
 */
export function interpolate(raw: string, environment: Environment): Interpolated {
  const parts: string[] = [];
  let literal = false;
  for (const [token, name] of raw.matchAll(/%\(([^()]*)\)s|%%|%|[^%]+/g)) {
    if (name !== undefined) {
      const value = environment[name];
      if (value === undefined) return { kind: 'invalid', reason: `environment variable ${name} is not set` };
      parts.push(value);
    } else if (token === '%') {
      return {
        kind: 'invalid',
        reason: 'stray "%"; write %% for a percent sign or %(VAR)s for an environment variable',
      };
    } else {
      parts.push(token === '%%' ? '%' : token);
      literal = true;
    }
  }
  return { kind: 'text', text: parts.join(''), fromEnvironment: !literal && parts.length > 0 };
}
