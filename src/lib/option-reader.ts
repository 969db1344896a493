/**
 * Typed reading of one section of `gatehouse.conf`, shared by the settings and by the drivers (each driver reads its own
 * `[connection NAME]` section).
 *
 *     const read = optionReader(section);
 *     const server = read.required('server');
 *     const port = read.integer('port', { min: 1, max: 65535 }, 29418);
 *     const password = read.secret('password');
 *     const problems = read.finish();           // also: every option that was not read
 *
 * A reader never stops at the first mistake: a bad value becomes a problem and the fallback is returned, so that the caller
 * reads on and all mistakes are reported together. Use the values only when `finish()` returned nothing.
 */

import { resolve } from 'node:path';
import { parseDuration } from './duration.ts';
import { didYouMean } from './nearest-name.ts';
import { Secret } from './secret.ts';
import { showPosition, type TextPosition } from './text-position.ts';

/** One option as written, after substitution of environment variables. */
export interface OptionValue {
  readonly value: string;
  readonly at: TextPosition;
}

/** One section as parsed from the file: the settings have one for each service, each driver gets that of its connection. */
export interface OptionSection {
  /** As between the brackets: `web`, `connection gerrit.example.org`. */
  readonly name: string;
  /** The header line, where missing options are reported. */
  readonly at: TextPosition;
  readonly options: ReadonlyMap<string, OptionValue>;
  /** Absolute: relative paths count from here. Default the working directory. */
  readonly directory?: string;
}

/** A mistake in the file, to be shown with its place; any of them keeps the process from starting. */
export interface OptionProblem {
  readonly at: TextPosition;
  /** Empty when the place is in no section. */
  readonly section: string;
  /** Absent when the whole section is meant. */
  readonly option?: string;
  readonly reason: string;
}

/** `gatehouse.conf:7: [web] port: "http" is not a whole number` */
export function showOptionProblem({ at, section, option, reason }: OptionProblem): string {
  const subject = [section === '' ? '' : `[${section}]`, option ?? ''].filter(part => part !== '').join(' ');
  return [showPosition(at), subject, reason].filter(part => part !== '').join(': ');
}

/** Bounds of a number, both inclusive and in the option's own unit; an absent bound is none. */
export interface Range {
  readonly min?: number;
  readonly max?: number;
}

/** Reads options by name, each with a fallback that also stands in for a bad value. */
export interface OptionReader {
  /** As written, which may be empty; undefined (or the fallback) when it is missing. */
  string(option: string): string | undefined;
  string(option: string, fallback: string): string;
  /** The empty string, with a problem at the section header, when the option is missing or empty. */
  required(option: string): string;
  oneOf<const Choice extends string>(option: string, choices: readonly Choice[], fallback: Choice): Choice;
  integer(option: string, range: Range, fallback: number): number;
  /** A decimal fraction. */
  number(option: string, range: Range, fallback: number): number;
  /** true/false, yes/no, on/off, 1/0 in any case, as Python's configparser. */
  boolean(option: string, fallback: boolean): boolean;
  /** Seconds: `30`, `30s`, `5m`, `2h`, `1d`; a bare number is seconds. */
  duration(option: string, range: Range, fallback: number): number;
  /** An absolute URL of one of the given schemes (`['http', 'https']`), without userinfo and without trailing slash. */
  url(option: string, schemes: readonly string[]): string | undefined;
  /** An absolute path; a relative one counts from the section's `directory`. */
  path(option: string): string | undefined;
  path(option: string, fallback: string): string;
  /** Undefined when it is missing; an empty value is a problem. */
  secret(option: string): Secret | undefined;
  /** Words separated by commas or white space; none when the option is missing. */
  words(option: string): readonly string[];
  /** Whether the option is written, with any value. */
  has(option: string): boolean;
  /** Reports an option that exists elsewhere (in zuul.conf, or in a plan) and has no effect here. */
  unsupported(option: string, advice: string): void;
  /** Adds a problem found by the caller, at the option's line (or the header's when it is not written). */
  refuse(option: string, reason: string): void;
  /** All problems, in the order of the lines, including options that were not read. Call it last. */
  finish(): readonly OptionProblem[];
}

/** @returns a reader of this section alone. It remembers which options were asked for, so use one reader for the whole section. */
export function optionReader(section: OptionSection): OptionReader {
  const known = new Set<string>();
  const unsupported = new Set<string>();
  const problems: OptionProblem[] = [];

  function refuse(option: string, reason: string): void {
    problems.push({
      at: section.options.get(option)?.at ?? section.at,
      section: section.name,
      option,
      reason,
    });
  }

  function text(option: string): string | undefined {
    known.add(option);
    return section.options.get(option)?.value;
  }

  /** The value converted, or the fallback when it is missing or (with a problem) unusable. */
  function converted<T>(option: string, convert: (text: string) => T | Unusable, fallback: T): T {
    const given = text(option);
    if (given === undefined) return fallback;
    const value = convert(given);
    if (!(value instanceof Unusable)) return value;
    refuse(option, value.reason);
    return fallback;
  }

  function string(option: string): string | undefined;
  function string(option: string, fallback: string): string;
  function string(option: string, fallback?: string): string | undefined {
    return text(option) ?? fallback;
  }

  function path(option: string): string | undefined;
  function path(option: string, fallback: string): string;
  function path(option: string, fallback?: string): string | undefined {
    const given = text(option) ?? fallback;
    if (given === '') refuse(option, 'is empty');
    return given === undefined ? undefined : resolve(section.directory ?? '', given);
  }

  return {
    string,
    path,
    required(option) {
      const given = text(option);
      if (given === undefined) refuse(option, 'is required and missing');
      else if (given === '') refuse(option, 'is required and empty');
      return given ?? '';
    },
    oneOf(option, choices, fallback) {
      return converted(
        option,
        given => choices.find(choice => choice === given) ?? notOneOf(given, choices),
        fallback,
      );
    },
    integer: (option, range, fallback) => converted(option, given => toInteger(given, range), fallback),
    number: (option, range, fallback) => converted(option, given => toNumber(given, range), fallback),
    boolean: (option, fallback) => converted(option, toBoolean, fallback),
    duration: (option, range, fallback) => converted(option, given => toSeconds(given, range), fallback),
    url: (option, schemes) =>
      converted<string | undefined>(option, given => toUrl(given, schemes), undefined),
    secret: option => converted<Secret | undefined>(option, toSecret, undefined),
    words: option => (text(option) ?? '').split(/[\s,]+/).filter(word => word !== ''),
    has: option => text(option) !== undefined,
    unsupported(option, advice) {
      unsupported.add(option);
      if (section.options.has(option)) refuse(option, `is not supported yet; ${advice}`);
    },
    refuse,
    finish() {
      for (const option of section.options.keys()) {
        if (!known.has(option) && !unsupported.has(option)) refuse(option, unknownOption(option, known));
      }
      return problems.toSorted((a, b) => a.at.line - b.at.line);
    },
  };
}

class Unusable {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

function unknownOption(option: string, known: ReadonlySet<string>): string {
  return `unknown option${didYouMean(option, known) || `; known here: ${[...known].sort().join(', ')}`}`;
}

function notOneOf(given: string, choices: readonly string[]): Unusable {
  return new Unusable(`"${given}" is not one of ${choices.join(', ')}${didYouMean(given, choices)}`);
}

function toInteger(given: string, range: Range): number | Unusable {
  if (!/^[+-]?\d{1,15}$/.test(given)) return new Unusable(`"${given}" is not a whole number`);
  return within(Number(given), given, range);
}

function toNumber(given: string, range: Range): number | Unusable {
  if (!/^[+-]?(\d{1,15}(\.\d{0,15})?|\.\d{1,15})$/.test(given))
    return new Unusable(`"${given}" is not a number`);
  return within(Number(given), given, range);
}

function toSeconds(given: string, range: Range): number | Unusable {
  const seconds = parseDuration(given);
  if (seconds === undefined)
    return new Unusable(`"${given}" is not a duration such as 30, 30s, 5m, 2h or 1d`);
  return within(seconds, given, range, ' seconds');
}

function within(value: number, given: string, { min, max }: Range, unit = ''): number | Unusable {
  if ((min === undefined || value >= min) && (max === undefined || value <= max)) return value;
  if (max === undefined) return new Unusable(`"${given}" is too small, at least ${min}${unit}`);
  if (min === undefined) return new Unusable(`"${given}" is too large, at most ${max}${unit}`);
  return new Unusable(`"${given}" is out of range, ${min} to ${max}${unit}`);
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['on', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['off', false],
  ['0', false],
]);

function toBoolean(given: string): boolean | Unusable {
  return BOOLEANS.get(given.toLowerCase()) ?? new Unusable(`"${given}" is neither true nor false`);
}

function toUrl(given: string, schemes: readonly string[]): string | Unusable {
  const wanted = `a URL starting with ${schemes.map(scheme => `${scheme}://`).join(' or ')}`;
  if (!URL.canParse(given)) return new Unusable(`not ${wanted}`);
  const url = new URL(given);
  if (!schemes.includes(url.protocol.slice(0, -1))) return new Unusable(`not ${wanted}`);
  if (url.username !== '' || url.password !== '') {
    return new Unusable('a URL must not hold a user name or password; use the options made for them');
  }
  return given.replace(/\/+$/, '');
}

function toSecret(given: string): Secret | Unusable {
  return given === '' ? new Unusable('is empty') : new Secret(given);
}
