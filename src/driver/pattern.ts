/**
 * A regular expression in a driver's part of a pipeline, in both of Zuul's forms: `^stable/`, or `{regex: ^stable/, negate: true}`
 * for everything else. What is returned is plain JSON that parses to itself.
 */
import { compileRegex, type Regex } from '../lib/regex.ts';
import type { Json } from '../model/job.ts';
import type { ConfigProblem, ParseResult } from './parse-result.ts';

/** As it is stored: the mapping only where it negates. */
export type Pattern = string | { readonly regex: string; readonly negate: true };

const KEYS = ['regex', 'negate'];

/** @param name of the value, for messages: `"branch" in a trigger`. */
export function readPattern(value: Json, name: string): ParseResult<Pattern> {
  if (typeof value === 'string') return checked(value, value, []);
  const wrong = refused([], 'wrong-type', `${name} must be a regular expression or {regex, negate}`);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return wrong;
  const { regex, negate = false } = value as { readonly [key: string]: Json };
  const unknown = Object.keys(value).find(key => !KEYS.includes(key));
  if (unknown !== undefined)
    return refused([unknown], 'unknown-key', `unknown key "${unknown}" in ${name}; known are regex, negate`);
  if (typeof regex !== 'string') return wrong;
  if (typeof negate !== 'boolean')
    return refused(['negate'], 'wrong-type', `"negate" of ${name} must be true or false`);
  return checked(regex, negate ? { regex, negate } : regex, ['regex']);
}

function checked(source: string, pattern: Pattern, path: ConfigProblem['path']): ParseResult<Pattern> {
  const compiled = compileRegex(source);
  return compiled.kind === 'regex'
    ? { kind: 'ok', value: pattern }
    : refused(path, 'invalid-regex', compiled.reason);
}

function refused(path: ConfigProblem['path'], code: string, text: string): ParseResult<never> {
  return { kind: 'invalid', problems: [{ path, code, text }] };
}

/** `match` from the start of the text, `search` anywhere in it, `all` of it: which one a key means is Zuul's choice. */
type Anchoring = 'match' | 'search' | 'all';

/** A pattern that is ready to match. */
export interface CompiledPattern {
  /** For people: the expression, or `not <expression>`. */
  readonly text: string;
  takes(text: string): boolean;
}

/** @throws Error for a pattern that {@link readPattern} refuses. */
export function compilePattern(pattern: Pattern, anchoring: Anchoring): CompiledPattern {
  const { regex: source, negate } = typeof pattern === 'string' ? { regex: pattern, negate: false } : pattern;
  const regex = compileRegex(source);
  if (regex.kind === 'invalid') throw new Error(regex.reason);
  const test = TESTS[anchoring];
  return { text: negate ? `not ${source}` : source, takes: text => test(regex, text) !== negate };
}

const TESTS: { readonly [anchoring in Anchoring]: (regex: Regex, text: string) => boolean } = {
  match: (regex, text) => regex.test(text),
  search: (regex, text) => regex.search(text),
  all: (regex, text) => regex.testAll(text),
};
