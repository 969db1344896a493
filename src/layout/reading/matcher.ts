import type { Regex } from '../../lib/regex.ts';

/** One entry of `branches`, `files` or `irrelevant-files`; the expression must match from the start of the text. */
export interface Matcher {
  readonly regex: Regex;
  readonly negate: boolean;
}

/** The expression must match from the start, not to the end. */
export function matches({ regex, negate }: Matcher, text: string): boolean {
  return regex.test(text) !== negate;
}

/** For people: `"^docs/"`, `not "^docs/"`. */
export function matcherText(matchers: readonly Matcher[]): string {
  return matchers.map(({ regex, negate }) => `${negate ? 'not ' : ''}"${regex.source}"`).join(', ');
}
