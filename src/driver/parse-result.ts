/** Answer of a driver's configuration parser: a value, or what is wrong, addressed by the path inside the value. */
export interface ConfigProblem {
  /** Keys and indices from the value handed in to the culprit, e.g. `['approved']`. */
  readonly path: readonly (string | number)[];
  readonly code: string;
  readonly text: string;
}

export type ParseResult<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'invalid'; readonly problems: readonly [ConfigProblem, ...ConfigProblem[]] };
