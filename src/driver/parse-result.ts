/** One mistake in a driver's part of a pipeline; the layout adds file and line. */
export interface ConfigProblem {
  /** Keys and indices from the parsed value to the mistake, e.g. `['approved']`; empty: the value itself. */
  readonly path: readonly (string | number)[];
  /** Short class, e.g. `unknown-key`. */
  readonly code: string;
  /** What is wrong and what to do. */
  readonly text: string;
}

/** What a driver's configuration parser returns: plain JSON to store in the layout, or all mistakes. */
export type ParseResult<T> =
  /** `warnings`: what has no effect, or not the one that it seems to have; absent: none. */
  | { readonly kind: 'ok'; readonly value: T; readonly warnings?: readonly ConfigProblem[] }
  | { readonly kind: 'invalid'; readonly problems: readonly [ConfigProblem, ...ConfigProblem[]] };
