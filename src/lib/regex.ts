/**
 * Regular expressions written by users, in RE2's language: matching takes linear time for any expression, so a
 * configuration cannot stall the service. The price is no lookaround, but for `(?!…)` behind a fixed beginning, and no backreferences.
 *
 * Anchoring follows Zuul, which follows Python: branches, refs, tags and files are matched *from the start*
 * (`re.match`: `stable` matches `stable/1.0`, not `unstable`; write `$` to end the match), user names, comments and
 * e-mail addresses are *searched* (`re.search`). Hence two methods.
 *
 *     const found = compileRegex('^stable/.*$');
 *     if (found.kind === 'regex') found.test('stable/1.0');   // true
 */

import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js';
import { type WithExceptions, withExceptions } from './regex-exceptions.ts';

/** A compiled expression; it has no state, so any number of matches may share it. */
export interface Regex {
  readonly kind: 'regex';
  /** As it was written. */
  readonly source: string;
  /** Whether the expression matches at the start of `text` (Python's `re.match`). */
  test(text: string): boolean;
  /** Whether the expression matches anywhere in `text` (Python's `re.search`). */
  search(text: string): boolean;
  /** Whether the expression matches all of `text` (Python's `re.fullmatch`). */
  testAll(text: string): boolean;
}

/** The expression is not RE2, or exceeds a limit below; the caller reports `reason` at the place it was written. */
export interface InvalidRegex {
  readonly kind: 'invalid';
  /** One line for the author of the expression. */
  readonly reason: string;
}

/** Longer expressions are refused: RE2 does not limit the size of the compiled program for us. */
const MAX_LENGTH = 1000;
/** Limit of `{n}` likewise: the sum of all repetitions in an expression. */
const MAX_REPEATS = 1000;

/** Never throws for an expression of a user: every mistake is an {@link InvalidRegex}. */
export function compileRegex(source: string): Regex | InvalidRegex {
  if (source.length > MAX_LENGTH) {
    return { kind: 'invalid', reason: `regular expression is longer than ${MAX_LENGTH} characters` };
  }
  if (repeatsOf(source) > MAX_REPEATS) {
    return {
      kind: 'invalid',
      reason: `invalid regular expression "${source}": more than ${MAX_REPEATS} repetitions by {n}`,
    };
  }
  // Most expressions of a configuration are of this form, and most are never tried: they are compiled when they are.
  if (SURELY_VALID.test(source)) return lateRegex(source);
  try {
    const parts = withExceptions(source);
    return parts === undefined ? plainRegex(source) : regexWithExceptions(source, parts);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return { kind: 'invalid', reason: `invalid regular expression "${source}": ${explain(source, error)}` };
  }
}

/** Literal characters, dots and escaped punctuation, each repeated or not; such a text is an expression of RE2. */
const SURELY_VALID = /^\^?(?:(?:[\w/ @:,=<>~-]|\.|\\[./+*?$^|()[\]{}-])[*+?]?)*\$?$/;

function lateRegex(source: string): Regex {
  let known: Regex | undefined;
  const regex = (): Regex => {
    known ??= plainRegex(source);
    return known;
  };
  return {
    kind: 'regex',
    source,
    test: text => regex().test(text),
    search: text => regex().search(text),
    testAll: text => regex().testAll(text),
  };
}

/** @throws RE2JSException */
function plainRegex(source: string): Regex {
  const compiled = RE2JS.compile(source);
  return {
    kind: 'regex',
    source,
    test: text => compiled.matcher(text).lookingAt(),
    search: text => compiled.test(text),
    testAll: text => compiled.testExact(text),
  };
}

/** Characters that a search may look at, over all places where it starts. */
const MOST_SEARCHED = 1_000_000;

/** @throws RE2JSException */
function regexWithExceptions(source: string, parts: WithExceptions): Regex {
  const { prefix, isAnchored } = parts;
  const rest = plainRegex(parts.rest);
  const exceptions = parts.exceptions.map(plainRegex);
  const isExcepted = (text: string) => exceptions.some(exception => exception.test(text));
  const matchesAt = (text: string, start: number): boolean => {
    if (!text.startsWith(prefix, start)) return false;
    const next = text.slice(start + prefix.length);
    return rest.test(next) && !isExcepted(next);
  };
  return {
    kind: 'regex',
    source,
    test: text => matchesAt(text, 0),
    search(text) {
      if (isAnchored) return matchesAt(text, 0);
      let left = MOST_SEARCHED;
      for (
        let start = text.indexOf(prefix);
        start !== -1 && left > 0;
        start = text.indexOf(prefix, start + 1)
      ) {
        if (matchesAt(text, start)) return true;
        // An empty prefix is found at the end again and again.
        if (start >= text.length) return false;
        left -= text.length - start;
      }
      return false;
    },
    testAll(text) {
      const next = text.slice(prefix.length);
      return text.startsWith(prefix) && rest.testAll(next) && !isExcepted(next);
    },
  };
}

function repeatsOf(source: string): number {
  let repeats = 0;
  for (const [, least = '0', most = ''] of source.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) {
    repeats += Math.max(Number(least), Number(most));
  }
  return repeats;
}

/** Python's constructs that RE2 lacks, by how they start, with what to write instead. */
const UNSUPPORTED: readonly (readonly [RegExp, string])[] = [
  [
    /\(\?!/,
    'lookaround is not supported by RE2, but as (?!…) behind a fixed beginning; match the opposite and use negate: true',
  ],
  [/\(\?<!/, 'lookaround is not supported by RE2; match the opposite and use negate: true'],
  [/\(\?<?=/, 'lookaround is not supported by RE2; write the text itself, or use negate: true'],
  [/\\[1-9]|\(\?P=/, 'backreferences are not supported by RE2'],
  [
    /\(\?>|[*+?}]\+/,
    'atomic groups and possessive quantifiers are not supported by RE2; a plain group never backtracks',
  ],
  [/\\Z/, 'RE2 writes \\z for the end of the text'],
  [/\(\?#/, 'comments are not supported by RE2'],
];

function explain(source: string, error: RE2JSException): string {
  const construct = UNSUPPORTED.find(([pattern]) => pattern.test(source));
  if (construct !== undefined) return construct[1];
  if (!(error instanceof RE2JSSyntaxException)) return error.message;
  const { input } = error;
  return input ? `${error.error} at "${input}"` : error.error;
}
