/**
 * Typed reading of query parameters by the tables of `src/api/queries.ts`. Every error is answered with 400 and names the
 * parameter; an ignored filter would give a wrong answer.
 *
 *     const query = readQuery(request.query, QUERIES.items);
 *     if (query.kind === 'refused') return query;
 *     const { limit, skip } = query.values;
 */
import type { Parameter, QueryTable } from '../api/queries.ts';
import { didYouMean } from '../lib/nearest-name.ts';
import { badRequest, type HttpRefusal } from './answer.ts';

const MAX_TEXT = 1000;
const MAX_VALUES = 20;

/** Values by name; one that is absent and has no default is undefined. */
export type QueryValues<Table extends QueryTable> = {
  readonly [name in keyof Table]:
    | (Table[name] extends { readonly default: number } ? never : undefined)
    | (Table[name] extends { readonly kind: 'integer' }
        ? number
        : Table[name] extends { readonly kind: 'boolean' }
          ? boolean
          : Table[name] extends { readonly kind: 'texts' }
            ? readonly string[]
            : string);
};

type Value = string | readonly string[] | number | boolean | undefined;
type Read = { readonly value: Value } | { readonly wrong: string };

/** An unknown parameter is refused, too. Texts have at most 1000 characters, a list at most 20 values. */
export function readQuery<Table extends QueryTable>(
  query: URLSearchParams,
  table: Table,
): { readonly kind: 'read'; readonly values: QueryValues<Table> } | HttpRefusal {
  const known = Object.keys(table);
  const stranger = [...query.keys()].find(name => !known.includes(name));
  if (stranger !== undefined) {
    const name = stranger.slice(0, 100);
    const hint = didYouMean(name, known) || `; known here: ${known.join(', ') || 'none'}`;
    return refuse(name, `unknown parameter${hint}`);
  }
  const values: { [name: string]: Value } = {};
  for (const [name, parameter] of Object.entries(table)) {
    const read = readParameter(query.getAll(name), parameter);
    if ('wrong' in read) return refuse(name, read.wrong);
    values[name] = read.value;
  }
  // The loop above has parsed each value by its parameter.
  return { kind: 'read', values: values as QueryValues<Table> };
}

function refuse(name: string, reason: string): HttpRefusal {
  return badRequest(`${name}: ${reason}`, `query parameter ${name}`);
}

function readParameter(given: readonly string[], parameter: Parameter): Read {
  const [first] = given;
  if (first === undefined) return { value: 'default' in parameter ? parameter.default : undefined };
  if (given.length > MAX_VALUES) return { wrong: `more than ${MAX_VALUES} values` };
  if (given.some(value => value.length > MAX_TEXT)) return { wrong: `longer than ${MAX_TEXT} characters` };
  if (given.some(value => value.includes('\0'))) return { wrong: 'holds a NUL character' };
  if (parameter.kind === 'texts') return { value: given };
  if (given.length > 1) return { wrong: 'given more than once' };
  switch (parameter.kind) {
    case 'text':
      return { value: first };
    case 'boolean':
      return readBoolean(first);
    case 'integer':
      return readInteger(first, parameter);
  }
}

/** `true`, `false`, `1` or `0` in any case. */
function readBoolean(given: string): Read {
  const value = given.toLowerCase();
  if (value === 'true' || value === '1') return { value: true };
  if (value === 'false' || value === '0') return { value: false };
  return { wrong: `${JSON.stringify(value)} is neither true nor false` };
}

function readInteger(given: string, { min, max }: { readonly min: number; readonly max: number }): Read {
  if (!/^-?\d{1,15}$/.test(given)) return { wrong: `${JSON.stringify(given)} is not a whole number` };
  const number = Number(given);
  return number >= min && number <= max
    ? { value: number }
    : { wrong: `${given} is out of range, ${min} to ${max}` };
}
