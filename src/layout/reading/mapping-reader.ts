/**
 * Typed reading of one mapping of a configuration file, the counterpart of `src/lib/option-reader.ts` for YAML.
 *
 * It never stops at the first mistake: a wrong value becomes a problem at its place and reads as absent, so that all
 * mistakes of a stanza are shown together. `finish()` adds a problem for every key that was not read.
 *
 *     const read = mappingReader(node, 'job unit-tests', context);
 *     const timeout = read.integer('timeout', { min: 1 });
 *     read.unsupported(UNSUPPORTED);
 *     read.finish();
 */
import { didYouMean } from '../../lib/nearest-name.ts';
import type { Range } from '../../lib/option-reader.ts';
import { describeNode, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts';
import type { Matcher } from './matcher.ts';
import type { ParseContext } from './parse-context.ts';

/** A name with its place, for errors found later. */
export interface PlacedName {
  readonly name: string;
  readonly offset: number;
}

/** Each read marks its key as known for `finish`. Undefined: the key is absent, or its value was refused and is a problem now. */
export interface MappingReader {
  /** Does not mark the key. */
  has(key: string): boolean;
  /** The value as parsed; undefined when absent. Null (`key:`) is a value here. */
  node(key: string): YamlNode | undefined;
  /** Not empty. A number is taken as written: a branch may be called `1.0`. */
  string(key: string): string | undefined;
  /** As `string`; its absence is a problem. */
  required(key: string): string | undefined;
  boolean(key: string): boolean | undefined;
  /** Bounds are inclusive. */
  integer(key: string, range: Range): number | undefined;
  oneOf<const Choice extends string>(key: string, choices: readonly Choice[]): Choice | undefined;
  /** A value or a list of values; `key:` is an empty list; undefined when absent. */
  list(key: string): readonly YamlNode[] | undefined;
  /** One string or a list of strings. */
  names(key: string): readonly PlacedName[] | undefined;
  /** One matcher or a list: a regular expression, or `{regex, negate}`. */
  matchers(key: string): readonly Matcher[] | undefined;
  /** A mapping as plain JSON. */
  mapping(key: string): YamlMapping | undefined;
  /** Refuses keys that Zuul has and Gatehouse does not have yet. */
  unsupported(keys: readonly string[], advice?: string): void;
  /** Takes keys that do nothing here, with a warning for each that is written. @param why by key, completes `"<key>" has no effect: …`. */
  withoutEffect(why: { readonly [key: string]: string }): void;
  /** Adds a problem of the caller's own. @param code stable, for machines. @param text for people, with what to do. */
  refuse(offset: number, code: string, text: string): void;
  /** Offset of a key; of the mapping when the key is absent. */
  offsetOf(key: string): number;
  /** Keys that were not read so far. */
  rest(): readonly string[];
  /** Refuses the keys that were not read. @param others further names for the hint, where a key may also name a pipeline. */
  finish(others?: Iterable<string>): void;
}

/** Each is tried on each changed file. */
const MAX_MATCHERS = 200;

/** @param subject the mapping's name in errors: `job unit-tests`. */
export function mappingReader(mapping: YamlMapping, subject: string, context: ParseContext): MappingReader {
  return new ReportingReader(mapping, subject, context);
}

class ReportingReader implements MappingReader {
  readonly #mapping: YamlMapping;
  readonly #subject: string;
  readonly #context: ParseContext;
  readonly #known: string[] = [];
  /** Keys that were neither read nor found to do nothing. */
  readonly #unread: Set<string>;

  constructor(mapping: YamlMapping, subject: string, context: ParseContext) {
    this.#mapping = mapping;
    this.#subject = subject;
    this.#context = context;
    this.#unread = new Set(mapping.entries.keys());
  }

  has(key: string): boolean {
    return this.#mapping.entries.has(key);
  }

  node(key: string): YamlNode | undefined {
    this.#known.push(key);
    this.#unread.delete(key);
    return this.#mapping.entries.get(key)?.value;
  }

  string(key: string): string | undefined {
    const value = this.node(key);
    return value === undefined ? undefined : this.#text(value, key);
  }

  required(key: string): string | undefined {
    if (this.node(key) !== undefined) return this.string(key);
    this.refuse(this.#mapping.offset, 'missing-key', `${this.#subject} lacks "${key}"`);
    return undefined;
  }

  boolean(key: string): boolean | undefined {
    const value = this.node(key);
    if (value === undefined) return undefined;
    if (value.kind === 'scalar' && typeof value.value === 'boolean') return value.value;
    return this.#wrongType(value, key, 'true or false');
  }

  integer(
    key: string,
    { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER }: Range,
  ): number | undefined {
    const value = this.node(key);
    if (value === undefined) return undefined;
    if (value.kind !== 'scalar' || !Number.isInteger(value.value))
      return this.#wrongType(value, key, 'a whole number');
    const number = Number(value.value);
    if (number >= min && number <= max) return number;
    const bound = number < min ? `at least ${min}` : `at most ${max}`;
    const text = `${key} of ${this.#subject} is ${number}; it must be ${bound}`;
    this.refuse(value.offset, 'out-of-range', text);
    return undefined;
  }

  oneOf<const Choice extends string>(key: string, choices: readonly Choice[]): Choice | undefined {
    const value = this.node(key);
    if (value === undefined) return undefined;
    const given = value.kind === 'scalar' ? value.text : undefined;
    const found = choices.find(choice => choice === given);
    if (found !== undefined) return found;
    const hint = given === undefined ? '' : didYouMean(given, choices, this.#context.hints);
    return this.#wrongType(value, key, `one of ${choices.join(', ')}${hint}`);
  }

  list(key: string): readonly YamlNode[] | undefined {
    const value = this.node(key);
    if (value === undefined) return undefined;
    if (value.kind === 'sequence') return value.elements;
    return value.kind === 'scalar' && value.value === null ? [] : [value];
  }

  names(key: string): readonly PlacedName[] | undefined {
    return this.list(key)?.flatMap(value => {
      const name = this.#text(value, key);
      return name === undefined ? [] : [{ name, offset: value.offset }];
    });
  }

  matchers(key: string): readonly Matcher[] | undefined {
    const values = this.list(key);
    if (values === undefined || values.length <= MAX_MATCHERS)
      return values?.flatMap(value => this.#matcher(value, key) ?? []);
    const text = `${key} of ${this.#subject} has more than ${MAX_MATCHERS} regular expressions; join some with |`;
    this.refuse(this.offsetOf(key), 'out-of-range', text);
    return undefined;
  }

  mapping(key: string): YamlMapping | undefined {
    const value = this.node(key);
    if (value === undefined || value.kind === 'mapping') return value;
    return this.#wrongType(value, key, 'a mapping');
  }

  unsupported(keys: readonly string[], advice = 'remove it'): void {
    for (const key of keys) {
      this.#unread.delete(key);
      const entry = this.#mapping.entries.get(key);
      if (entry === undefined) continue;
      const text = `"${key}" of ${this.#subject} is not supported yet; ${advice}`;
      this.refuse(entry.keyOffset, 'not-supported', text);
    }
  }

  withoutEffect(why: { readonly [key: string]: string }): void {
    for (const [key, reason] of Object.entries(why)) {
      this.#unread.delete(key);
      const entry = this.#mapping.entries.get(key);
      if (entry === undefined) continue;
      const text = `"${key}" has no effect: ${reason}`;
      this.#context.problem({ offset: entry.keyOffset, code: 'no-effect', text, severity: 'warning' });
    }
  }

  refuse(offset: number, code: string, text: string): void {
    this.#context.problem({ offset, code, text });
  }

  offsetOf(key: string): number {
    return this.#mapping.entries.get(key)?.keyOffset ?? this.#mapping.offset;
  }

  rest(): readonly string[] {
    return [...this.#unread];
  }

  finish(others: Iterable<string> = []): void {
    if (this.#unread.size === 0) return;
    const names = [...new Set(this.#known), ...others];
    let listed: string | undefined;
    for (const key of this.rest()) {
      listed ??= `; known here: ${names.toSorted().join(', ')}`;
      const hint = didYouMean(key, names, this.#context.hints) || listed;
      this.refuse(this.offsetOf(key), 'unknown-key', `unknown key "${key}" of ${this.#subject}${hint}`);
    }
  }

  #text(value: YamlNode, key: string): string | undefined {
    if (value.kind === 'scalar' && typeof value.value === 'string' && value.value !== '') return value.value;
    // A branch or project called 1.0 or 2024 needs no quotes in Zuul either.
    if (value.kind === 'scalar' && typeof value.value === 'number') return value.text;
    return this.#wrongType(value, key, 'a string');
  }

  #matcher(value: YamlNode, key: string): Matcher | undefined {
    if (value.kind === 'scalar') return this.#compiled(this.#text(value, key), false, value.offset);
    if (value.kind !== 'mapping')
      return this.#wrongType(value, key, 'a regular expression or {regex, negate}');
    const read = mappingReader(value, `${key} of ${this.#subject}`, this.#context);
    const regex = read.required('regex');
    const negate = read.boolean('negate') ?? false;
    read.finish();
    return this.#compiled(regex, negate, value.offset);
  }

  #compiled(source: string | undefined, negate: boolean, offset: number): Matcher | undefined {
    if (source === undefined) return undefined;
    const regex = this.#context.regexes.compile(source);
    if (regex.kind === 'regex') return { regex, negate };
    this.refuse(offset, 'invalid-regex', regex.reason);
    return undefined;
  }

  #wrongType(value: YamlNode, key: string, wanted: string): undefined {
    const text = `${key} of ${this.#subject} is ${describeNode(value)}; it must be ${wanted}`;
    this.refuse(value.offset, 'wrong-type', text);
    return undefined;
  }
}
