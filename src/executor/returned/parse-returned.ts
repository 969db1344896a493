/**
 * The file in which a build returns data: one line of JSON for each `gatehouse return` or `zuul_return`, merged in their order.
 * Pure; nothing that a job writes makes it throw.
 *
 *     {"data": {"zuul": {"log_url": "https://logs.example.org/1/"}, "version": {"major": 1}}}
 *     {"data": {"version": {"minor": 2}}}
 *     {"secret_data": {"password": "hunter2"}}
 *     →   data {version: {major: 1, minor: 2}}, secret {password: 'hunter2'}
 *
 * Mappings are merged, `zuul.artifacts`, `zuul.warnings` and the comments of a file are joined, of all else the last counts. What cannot be used is left out, with a
 * warning that never quotes it: it may be secret.
 */
import { isNestedDeeperThan } from '../../lib/json-depth.ts';
import type { Json, Variables } from '../../model/job.ts';
import { isVariables, mergeVars } from '../../model/merge-vars.ts';
import { reservedVariable } from '../../model/reserved-variables.ts';
import type { Returned } from '../../model/returned.ts';
import { ordersOf, type ReturnedOrders, storedMembers, warningsOf } from './zuul-members.ts';

/** `secret`: not to be stored or shown as it is. */
export interface ParsedReturn {
  readonly returned: Omit<Returned, 'sealed'>;
  readonly secret: Variables;
  readonly orders: ReturnedOrders;
}

/** Characters of JSON, data and artifacts of a build together. */
const MOST_RETURNED = 65_536;
const MOST_SECRET = 16_384;
const DEEPEST = 50;
const MOST_WARNINGS = 20;
/** Lists below `zuul` that several returns add to. */
const JOINED = ['artifacts', 'warnings'] as const;

/** @param text of the whole file. @param children jobs that depend on the build's own directly; undefined: they are not known. */
export function parseReturned(text: string, children?: readonly string[]): ParsedReturn {
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
    ...storedMembers(own, children, warnings),
    ...nonEmpty('data', usable(rest, warnings)),
  };
  const kept = within(facts, MOST_RETURNED, 'data and artifacts', warnings) ?? {};
  const hidden = within(usable(ownSecret, warnings), MOST_SECRET, 'secret data', warnings) ?? {};
  const orders = ordersOf(own, warnings);
  const all = [...warnings, ...warningsOf(own)].slice(0, MOST_WARNINGS);
  return { returned: { ...kept, ...(all.length === 0 ? {} : { warnings: all }) }, secret: hidden, orders };
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
  const joined = { ...Object.fromEntries(lists), ...joinedComments(zuul) };
  return Object.keys(joined).length === 0 ? both : mergeVars(both, { zuul: joined });
}

/** Lists of one file are joined as well. */
function joinedComments(zuul: readonly Variables[]): Variables {
  const all = zuul.flatMap(({ file_comments: given }) => (isVariables(given) ? [given] : []));
  const [before, after] = all;
  if (before === undefined || after === undefined) return {};
  const files = Object.entries(after).flatMap(([file, list]) => {
    const known = before[file];
    return Array.isArray(known) && Array.isArray(list) ? [[file, [...known, ...list]] as const] : [];
  });
  return files.length === 0 ? {} : { file_comments: Object.fromEntries(files) };
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
