/** Reading what pipelines say about a connection: mappings with a few known keys, every mistake with its path and a hint. */

import { parseDuration } from '../lib/duration.ts';
import { didYouMean } from '../lib/nearest-name.ts';
import { compileRegex } from '../lib/regex.ts';
import type { Json } from '../model/job.ts';
import type { ConfigProblem, ParseResult } from './parse-result.ts';
import { type Pattern, readPattern } from './pattern.ts';

/** One value that is read key by key. Mistakes are collected, and reported by {@link Mapping.result}. */
export interface Mapping {
  /** True, false, or undefined when the key is not there. */
  boolean(key: string): boolean | undefined;
  /** Those of the keys that are there. */
  booleans<const Key extends string>(keys: readonly Key[]): { readonly [key in Key]?: boolean };
  /** One of `choices` or a list of them; empty when the key is not there. */
  choices<const Choice extends string>(key: string, choices: readonly Choice[]): readonly Choice[];
  /** A regular expression or a list; empty when the key is not there. */
  regexes(key: string): readonly string[];
  /** A regular expression in either form of {@link Pattern}, or a list of them; empty when the key is not there. */
  patterns(key: string): readonly Pattern[];
  /** A text or a list; empty when the key is not there. */
  strings(key: string): readonly string[];
  /** Seconds up to a hundred years: a whole number, or a text like `90s`, `48h`, `2d`, `1w`; undefined when the key is not there. */
  duration(key: string): number | undefined;
  /** A value or a list, each read by `parse`; empty when the key is not there. */
  each<T>(key: string, parse: (value: Json) => ParseResult<T>): readonly T[];
  /** Adds a mistake of the caller's own checks. */
  refuse(path: ConfigProblem['path'], code: string, text: string): void;
  /** Adds something that is taken, and has no effect. */
  warn(path: ConfigProblem['path'], code: string, text: string): void;
  /** The value, unless something was refused. */
  result<T extends Json>(value: T): ParseResult<T>;
}

/** @param value null (nothing written after the colon) counts as an empty mapping. */
export function readMapping(value: Json, known: readonly string[], what: string): Mapping {
  const problems: ConfigProblem[] = [];
  const warnings: ConfigProblem[] = [];
  const refuse: Mapping['refuse'] = (path, code, text) => void problems.push({ path, code, text });
  const given = isMapping(value) ? value : {};
  if (value !== null && !isMapping(value))
    refuse([], 'wrong-type', `${what} must be a mapping of ${known.join(', ')}`);
  refuseUnknownKeys(given, known, what, refuse);

  function texts(key: string): readonly { readonly path: ConfigProblem['path']; readonly text: string }[] {
    return itemsOf(given[key], key).flatMap(({ path, item }) => {
      if (typeof item === 'string') return [{ path, text: item }];
      refuse(path, 'wrong-type', `"${key}" in ${what} must be a string or a list of strings`);
      return [];
    });
  }

  const each: Mapping['each'] = (key, parse) =>
    itemsOf(given[key], key).flatMap(({ path, item }) => {
      const parsed = parse(item);
      if (parsed.kind === 'ok') {
        for (const each of parsed.warnings ?? []) warnings.push({ ...each, path: [...path, ...each.path] });
        return [parsed.value];
      }
      for (const problem of parsed.problems) refuse([...path, ...problem.path], problem.code, problem.text);
      return [];
    });

  const boolean: Mapping['boolean'] = key => {
    const found = given[key];
    if (found === undefined || typeof found === 'boolean') return found;
    refuse([key], 'wrong-type', `"${key}" in ${what} must be true or false`);
    return undefined;
  };

  return {
    refuse,
    warn: (path, code, text) => void warnings.push({ path, code, text }),
    each,
    boolean,
    booleans: keys =>
      Object.fromEntries(keys.map(key => [key, boolean(key)]).filter(([, found]) => found !== undefined)),
    patterns: key => each(key, item => readPattern(item, `"${key}" in ${what}`)),
    strings: key => texts(key).map(({ text }) => text),
    duration(key) {
      const found = given[key];
      const read = found === undefined ? undefined : secondsOf(found);
      if (found !== undefined && read === undefined)
        refuse([key], 'wrong-type', `"${key}" in ${what} ${NOT_A_TIME}`);
      return read;
    },
    choices(key, choices) {
      return texts(key).flatMap(({ path, text }) => {
        const choice = choices.find(each => each === text);
        if (choice !== undefined) return [choice];
        refuse(
          path,
          'unknown-value',
          `"${text}" is not one of ${choices.join(', ')}${didYouMean(text, choices)}`,
        );
        return [];
      });
    },
    regexes(key) {
      return texts(key).flatMap(({ path, text }) => {
        const compiled = compileRegex(text);
        if (compiled.kind === 'regex') return [text];
        refuse(path, 'invalid-regex', compiled.reason);
        return [];
      });
    },
    result: value => resultOf(value, problems, warnings),
  };
}

function resultOf<T>(
  value: T,
  [first, ...rest]: readonly ConfigProblem[],
  warnings: readonly ConfigProblem[],
): ParseResult<T> {
  if (first !== undefined) return { kind: 'invalid', problems: [first, ...rest] };
  return { kind: 'ok', value, ...(warnings.length === 0 ? {} : { warnings }) };
}

function refuseUnknownKeys(
  given: object,
  known: readonly string[],
  what: string,
  refuse: Mapping['refuse'],
): void {
  for (const key of Object.keys(given).filter(each => !known.includes(each))) {
    const hint = didYouMean(key, known) || `; known are ${known.join(', ')}`;
    refuse([key], 'unknown-key', `unknown key "${key}" in ${what}${hint}`);
  }
}

function itemsOf(
  found: Json | undefined,
  key: string,
): readonly { readonly path: ConfigProblem['path']; readonly item: Json }[] {
  if (found === undefined) return [];
  return Array.isArray(found)
    ? found.map((item, index) => ({ path: [key, index], item }))
    : [{ path: [key], item: found }];
}

const NOT_A_TIME = 'must be a time like 90s, 48h, 2d or 1w, of at most 100 years';

/** A hundred years: a time that far away still has its digits. */
const LONGEST = 36_525 * 86_400;

function secondsOf(value: Json): number | undefined {
  const seconds = typeof value === 'string' ? parseDuration(value) : value;
  const valid =
    typeof seconds === 'number' && Number.isSafeInteger(seconds) && seconds >= 0 && seconds <= LONGEST;
  return valid ? seconds : undefined;
}

/** Neither null nor a list. */
export function isMapping(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** For what was parsed before and comes back from the store. @throws Error when it is not what the parser returned. */
export function parsedBefore<T>(result: ParseResult<T>): T {
  if (result.kind === 'ok') return result.value;
  throw new Error(`stored configuration is not valid: ${result.problems[0].text}`);
}
