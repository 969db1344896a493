/**
 * The file in which a build returns data: one line of JSON for each `gatehouse return` or `zuul_return`, merged in their order.
 * Pure; nothing that a job writes makes it throw.
 *
 *     {"data": {"zuul": {"log_url": "https://logs.example.org/1/"}, "version": {"major": 1}}}
 *     {"data": {"version": {"minor": 2}}}
 *     {"secret_data": {"password": "hunter2"}}
 *     →   data {version: {major: 1, minor: 2}}, secret {password: 'hunter2'}
 *
 * Mappings are merged, `zuul.artifacts` and `zuul.warnings` are joined, of all else the last counts. What cannot be used is left out, with a
 * warning that never quotes it: it may be secret.
 */
import { isNestedDeeperThan } from '../../lib/json-depth.ts';
import type { Json, Variables } from '../../model/job.ts';
import { isVariables, mergeVars } from '../../model/merge-vars.ts';
import { reservedVariable } from '../../model/reserved-variables.ts';
import type { Artifact, Returned } from '../../model/returned.ts';

/** `secret`: not to be stored or shown as it is. */
export interface ParsedReturn {
  readonly returned: Omit<Returned, 'sealed'>;
  readonly secret: Variables;
}

/** Characters of JSON, data and artifacts of a build together. */
const MOST_RETURNED = 65_536;
const MOST_SECRET = 16_384;
const DEEPEST = 50;
const MOST_WARNINGS = 20;
const LONGEST_WARNING = 500;
/** Lists below `zuul` that several returns add to. */
const JOINED = ['artifacts', 'warnings'] as const;
/** Of Zuul's, without effect here. */
const WITHOUT_EFFECT = ['child_jobs', 'pause', 'retry', 'file_comments'] as const;

/** @param text of the whole file. */
export function parseReturned(text: string): ParsedReturn {
  const warnings: string[] = [];
  let data: Variables = {};
  let secret: Variables = {};
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const parsed = parseLine(line);
    if (typeof parsed === 'string') {
      warnings.push(`line ${index + 1} of what was returned ${parsed}; it is ignored`);
      continue;
    }
    data = merged(data, parsed.data);
    secret = mergeVars(secret, parsed.secret);
  }
  const { zuul = {}, ...rest } = data;
  const own = isVariables(zuul) ? zuul : {};
  const { zuul: _, ...ownSecret } = secret;
  const facts = {
    ...logUrlOf(own, warnings),
    ...artifactsOf(own, warnings),
    ...nonEmpty('data', usable(rest, warnings)),
  };
  const kept = within(facts, MOST_RETURNED, 'data and artifacts', warnings) ?? {};
  const hidden = within(usable(ownSecret, warnings), MOST_SECRET, 'secret data', warnings) ?? {};
  const all = [...warnings, ...warningsOf(own)].slice(0, MOST_WARNINGS);
  return { returned: { ...kept, ...(all.length === 0 ? {} : { warnings: all }) }, secret: hidden };
}

function parseLine(line: string): { readonly data: Variables; readonly secret: Variables } | string {
  if (isNestedDeeperThan(Buffer.from(line), DEEPEST)) return `is nested deeper than ${DEEPEST} levels`;
  let value: Json;
  try {
    value = JSON.parse(line);
  } catch {
    return 'is not JSON';
  }
  if (!isVariables(value)) return 'is not a JSON object';
  const { data = {}, secret_data: secret = {} } = value;
  if (!isVariables(data) || !isVariables(secret)) return 'has data that is not a JSON object';
  return { data, secret };
}

function merged(before: Variables, after: Variables): Variables {
  const zuul = [before.zuul, after.zuul].map(each => (isVariables(each) ? each : {}));
  const lists = JOINED.flatMap(name => {
    const all = zuul.flatMap(({ [name]: list }) => (Array.isArray(list) ? list : []));
    return all.length === 0 ? [] : [[name, all] as const];
  });
  const both = mergeVars(before, after);
  return lists.length === 0 ? both : mergeVars(both, { zuul: Object.fromEntries(lists) });
}

function logUrlOf({ log_url: url }: Variables, warnings: string[]): Pick<Returned, 'logUrl'> {
  if (url === undefined || url === null) return {};
  if (typeof url === 'string' && isWebAddress(url)) return { logUrl: url };
  warnings.push('zuul.log_url is not an address of http or https; it is ignored');
  return {};
}

/** As in Zuul all of them are left out where one is unusable. */
function artifactsOf(own: Variables, warnings: string[]): Pick<Returned, 'artifacts'> {
  const { artifacts = [], log_url: logUrl } = own;
  for (const name of WITHOUT_EFFECT)
    if (own[name] !== undefined) warnings.push(`zuul.${name} has no effect in this release`);
  const base = typeof logUrl === 'string' && isWebAddress(logUrl) ? withSlash(logUrl) : undefined;
  const found = Array.isArray(artifacts) ? artifacts.map(each => artifactOf(each, base)) : [undefined];
  const whole = found.filter(each => each !== undefined);
  if (whole.length < found.length) {
    warnings.push(
      'zuul.artifacts is not a list of objects with name, url and perhaps metadata; it is ignored',
    );
    return {};
  }
  return whole.length === 0 ? {} : { artifacts: whole };
}

function artifactOf(value: Json, base: string | undefined): Artifact | undefined {
  if (!isVariables(value)) return undefined;
  const { name, url, metadata } = value;
  if (typeof name !== 'string' || typeof url !== 'string') return undefined;
  if (metadata !== undefined && !isVariables(metadata)) return undefined;
  const whole = base === undefined ? url : (URL.parse(url, base)?.href ?? url);
  return { name, url: whole, ...(metadata === undefined ? {} : { metadata }) };
}

function withSlash(url: string): string {
  return url.endsWith('/') ? url : `${url}/`;
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
}

function warningsOf({ warnings }: Variables): readonly string[] {
  if (!Array.isArray(warnings)) return [];
  return warnings.filter(each => typeof each === 'string').map(each => each.slice(0, LONGEST_WARNING));
}

/** Without variables that no job can have. */
function usable(data: Variables, warnings: string[]): Variables {
  const refused = Object.keys(data).filter(
    name =>
      !/^[a-zA-Z_]\w{0,199}$/.test(name) || name === 'unsafe_vars' || reservedVariable(name) !== undefined,
  );
  if (refused.length === 0) return data;
  warnings.push(
    `${refused.length} returned variables have names that variables cannot have; they are ignored`,
  );
  return Object.fromEntries(Object.entries(data).filter(([name]) => !refused.includes(name)));
}

function within<T>(value: T, most: number, what: string, warnings: string[]): T | undefined {
  const { length } = JSON.stringify(value);
  if (length <= most) return value;
  warnings.push(`the returned ${what} have ${length} characters, more than ${most}; nothing of them is kept`);
  return undefined;
}

function nonEmpty(name: 'data', data: Variables): Pick<Returned, 'data'> {
  return Object.keys(data).length === 0 ? {} : { [name]: data };
}
