/**
 * Typed reading of one mapping of a configuration file, the counterpart of `src/lib/option-reader.ts` for YAML.
 *
 * It never stops at the first mistake: a wrong value becomes a problem at its place and reads as absent, so that all
 * mistakes of a stanza are shown together. `finish()` adds a problem for every key nobody asked for.
 *
 *     const read = mappingReader(node, 'job unit-tests', context);
 *     const timeout = read.integer('timeout', { min: 1 });
 *     read.unsupported(['secrets']);
 *     read.finish();
 */
import { didYouMean } from '../lib/nearest-name.ts';
import type { Range } from '../lib/option-reader.ts';
import type { Matcher } from './matcher.ts';
import type { ParseContext } from './parse-context.ts';
import { describeNode, type YamlMapping, type YamlNode } from './yaml-node.ts';

/** A name with the place where it is written, for errors found later. */
export interface PlacedName {
  readonly name: string;
  readonly offset: number;
}

export interface MappingReader {
  has(key: string): boolean;
  /** The value as parsed; undefined when absent. Null (`key:`) is a value here. */
  node(key: string): YamlNode | undefined;
  string(key: string): string | undefined;
  required(key: string): string | undefined;
  boolean(key: string): boolean | undefined;
  integer(key: string, range: Range): number | undefined;
  oneOf<const Choice extends string>(key: string, choices: readonly Choice[]): Choice | undefined;
  /** A value or a list of values; `key:` is an empty list; undefined when absent. */
  list(key: string): readonly YamlNode[] | undefined;
  /** One text or a list of texts. */
  names(key: string): readonly PlacedName[] | undefined;
  /** One matcher or a list: a regular expression, or `{regex, negate}`. */
  matchers(key: string): readonly Matcher[] | undefined;
  /** A mapping as plain JSON. */
  mapping(key: string): YamlMapping | undefined;
  /** Keys that Zuul has and we do not (yet). */
  unsupported(keys: readonly string[], advice?: string): void;
  refuse(offset: number, code: string, text: string): void;
  /** Where a key stands; the mapping itself when it is absent. */
  offsetOf(key: string): number;
  /** Keys nobody asked for so far. */
  rest(): readonly string[];
  /** @param others further names for the hint, where keys are also names of something. */
  finish(others?: Iterable<string>): void;
}

/** Each is tried on each changed file. */
const MAX_MATCHERS = 200;

/** @param subject what the mapping is, for people: `job unit-tests`. */
export function mappingReader(mapping: YamlMapping, subject: string, context: ParseContext): MappingReader {
  const known = new Set<string>();
  const unsupportedKeys = new Set<string>();
  const refuse = (offset: number, code: string, text: string) => context.problem({ offset, code, text });
  const wrong = (node: YamlNode, key: string, wanted: string) => {
    refuse(node.offset, 'wrong-type', `${key} of ${subject} is ${describeNode(node)}; it must be ${wanted}`);
    return undefined;
  };

  function node(key: string): YamlNode | undefined {
    known.add(key);
    return mapping.entries.get(key)?.value;
  }

  function string(key: string): string | undefined {
    const value = node(key);
    return value === undefined ? undefined : text(value, key);
  }

  function text(value: YamlNode, key: string): string | undefined {
    if (value.kind === 'scalar' && typeof value.value === 'string' && value.value !== '') return value.value;
    // A branch or project called 1.0 or 2024 needs no quotes in Zuul either.
    if (value.kind === 'scalar' && typeof value.value === 'number') return value.text;
    return wrong(value, key, 'a text');
  }

  function list(key: string): readonly YamlNode[] | undefined {
    const value = node(key);
    if (value === undefined) return undefined;
    if (value.kind === 'sequence') return value.elements;
    return value.kind === 'scalar' && value.value === null ? [] : [value];
  }

  function matcher(value: YamlNode, key: string): Matcher | undefined {
    if (value.kind === 'scalar') return compiled(text(value, key), false, value.offset);
    if (value.kind === 'sequence') return wrong(value, key, 'a regular expression or {regex, negate}');
    const read = mappingReader(value, `${key} of ${subject}`, context);
    const regex = read.required('regex');
    const negate = read.boolean('negate') ?? false;
    read.finish();
    return compiled(regex, negate, value.offset);
  }

  function compiled(source: string | undefined, negate: boolean, offset: number): Matcher | undefined {
    if (source === undefined) return undefined;
    const regex = context.regexes.compile(source);
    if (regex.kind === 'regex') return { regex, negate };
    refuse(offset, 'invalid-regex', regex.reason);
    return undefined;
  }

  return {
    node,
    string,
    list,
    refuse,
    has: key => mapping.entries.has(key),
    offsetOf: key => mapping.entries.get(key)?.keyOffset ?? mapping.offset,
    required(key) {
      if (node(key) !== undefined) return string(key);
      refuse(mapping.offset, 'missing-key', `${subject} lacks "${key}"`);
      return undefined;
    },
    boolean(key) {
      const value = node(key);
      if (value === undefined) return undefined;
      if (value.kind === 'scalar' && typeof value.value === 'boolean') return value.value;
      return wrong(value, key, 'true or false');
    },
    integer(key, { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER }) {
      const value = node(key);
      if (value === undefined) return undefined;
      if (value.kind !== 'scalar' || !Number.isInteger(value.value))
        return wrong(value, key, 'a whole number');
      const number = Number(value.value);
      if (number >= min && number <= max) return number;
      const bound = number < min ? `at least ${min}` : `at most ${max}`;
      refuse(value.offset, 'out-of-range', `${key} of ${subject} is ${number}; it must be ${bound}`);
      return undefined;
    },
    oneOf(key, choices) {
      const value = node(key);
      if (value === undefined) return undefined;
      const given = value.kind === 'scalar' ? value.text : undefined;
      const found = choices.find(choice => choice === given);
      if (found !== undefined) return found;
      const hint = given === undefined ? '' : didYouMean(given, choices, context.hints);
      return wrong(value, key, `one of ${choices.join(', ')}${hint}`);
    },
    names(key) {
      return list(key)?.flatMap(value => {
        const name = text(value, key);
        return name === undefined ? [] : [{ name, offset: value.offset }];
      });
    },
    matchers(key) {
      const values = list(key) ?? [];
      if (values.length > MAX_MATCHERS) {
        const text = `${key} of ${subject} has more than ${MAX_MATCHERS} regular expressions; join some with |`;
        refuse(mapping.entries.get(key)?.keyOffset ?? mapping.offset, 'out-of-range', text);
        return undefined;
      }
      return list(key)?.flatMap(value => matcher(value, key) ?? []);
    },
    mapping(key) {
      const value = node(key);
      if (value === undefined || value.kind === 'mapping') return value;
      return wrong(value, key, 'a mapping');
    },
    unsupported(keys, advice = 'remove it') {
      for (const key of keys) {
        unsupportedKeys.add(key);
        const entry = mapping.entries.get(key);
        if (entry === undefined) continue;
        refuse(entry.keyOffset, 'not-supported', `"${key}" of ${subject} is not supported yet; ${advice}`);
      }
    },
    rest: () => [...mapping.entries.keys()].filter(key => !known.has(key) && !unsupportedKeys.has(key)),
    finish(others = []) {
      const names = [...known, ...others];
      let listed: string | undefined;
      for (const [key, { keyOffset }] of mapping.entries) {
        if (known.has(key) || unsupportedKeys.has(key)) continue;
        listed ??= `; known here: ${names.toSorted().join(', ')}`;
        const hint = didYouMean(key, names, context.hints) || listed;
        refuse(keyOffset, 'unknown-key', `unknown key "${key}" of ${subject}${hint}`);
      }
    },
  };
}
