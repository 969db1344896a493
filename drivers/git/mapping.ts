/** Reading what pipelines say about a connection: mappings with a few known keys, every mistake with its path and a hint. */
import type { ConfigProblem, ParseResult } from '../../src/driver/parse-result.ts';
import { didYouMean } from '../../src/lib/nearest-name.ts';
import { compileRegex } from '../../src/lib/regex.ts';
import type { Json } from '../../src/model/job.ts';

/** One value that is read key by key. Mistakes are collected, and reported by {@link Mapping.result}. */
export interface Mapping {
  /** True, false, or undefined when the key is not there. */
  boolean(key: string): boolean | undefined;
  /** One of `choices` or a list of them; empty when the key is not there. */
  choices<const Choice extends string>(key: string, choices: readonly Choice[]): readonly Choice[];
  /** A regular expression or a list; empty when the key is not there. */
  regexes(key: string): readonly string[];
  /** Adds a mistake of the caller's own checks. */
  refuse(path: ConfigProblem['path'], code: string, text: string): void;
  /** The value, unless something was refused. */
  result<T extends Json>(value: T): ParseResult<T>;
}

/** @param value null (nothing written after the colon) counts as an empty mapping. */
export function readMapping(value: Json, known: readonly string[], what: string): Mapping {
  const problems: ConfigProblem[] = [];
  const refuse: Mapping['refuse'] = (path, code, text) => void problems.push({ path, code, text });
  const given = isMapping(value) ? value : {};
  if (value !== null && !isMapping(value))
    refuse([], 'wrong-type', `${what} must be a mapping of ${known.join(', ')}`);
  for (const key of Object.keys(given)) {
    if (!known.includes(key)) {
      refuse(
        [key],
        'unknown-key',
        `unknown key "${key}" in ${what}${didYouMean(key, known) || `; known are ${known.join(', ')}`}`,
      );
    }
  }

  function texts(key: string): readonly { readonly path: ConfigProblem['path']; readonly text: string }[] {
    const found = given[key];
    if (found === undefined) return [];
    const items = Array.isArray(found)
      ? found.map((item, index) => ({ path: [key, index], item }))
      : [{ path: [key], item: found }];
    return items.flatMap(({ path, item }) => {
      if (typeof item === 'string') return [{ path, text: item }];
      refuse(path, 'wrong-type', `"${key}" in ${what} must be a string or a list of strings`);
      return [];
    });
  }

  return {
    refuse,
    boolean(key) {
      const found = given[key];
      if (found === undefined || typeof found === 'boolean') return found;
      refuse([key], 'wrong-type', `"${key}" in ${what} must be true or false`);
      return undefined;
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
    result(value) {
      const [first, ...rest] = problems;
      return first === undefined ? { kind: 'ok', value } : { kind: 'invalid', problems: [first, ...rest] };
    },
  };
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
