/**
 * Typed reading of query parameters. Every mistake is answered with 400 and names the parameter: an ignored filter would
 * be an answer to another question.
 *
 *     const read = readQuery(request.query, ['limit', 'skip', 'project']);
 *     const limit = read.integer('limit', { min: 1, max: 1000 });
 *     const project = read.texts('project');
 *     if (read.refusal !== undefined) return read.refusal;
 */
import { didYouMean } from '../lib/nearest-name.ts';
import { badRequest, type Refusal } from './answer.ts';

const MAX_TEXT = 1000;
const MAX_VALUES = 20;

export interface Query {
  /** All values of a parameter that may be repeated; undefined when it is absent. */
  texts(name: string): readonly string[] | undefined;
  text(name: string): string | undefined;
  integer(name: string, range: { readonly min: number; readonly max: number }): number | undefined;
  /** `true`, `false`, `1` or `0` in any case. */
  boolean(name: string): boolean | undefined;
  /** The first mistake, if any. Look at it before using the values. */
  readonly refusal: Refusal | undefined;
}

/** @param known every name that may appear. */
export function readQuery(query: URLSearchParams, known: readonly string[]): Query {
  let refusal: Refusal | undefined;
  const refuse = (name: string, reason: string) => {
    refusal ??= badRequest(`${name}: ${reason}`, `query parameter ${name}`);
    return undefined;
  };
  const stranger = [...query.keys()].find(name => !known.includes(name));
  if (stranger !== undefined) {
    const name = stranger.slice(0, 100);
    refuse(
      name,
      `unknown parameter${didYouMean(name, known) || `; known here: ${known.join(', ') || 'none'}`}`,
    );
  }

  function texts(name: string): readonly string[] | undefined {
    const values = query.getAll(name);
    if (values.length === 0) return undefined;
    if (values.length > MAX_VALUES) return refuse(name, `more than ${MAX_VALUES} values`);
    if (values.some(value => value.length > MAX_TEXT))
      return refuse(name, `longer than ${MAX_TEXT} characters`);
    if (values.some(value => value.includes('\0'))) return refuse(name, 'holds a NUL character');
    return values;
  }

  function text(name: string): string | undefined {
    const values = texts(name);
    if (values !== undefined && values.length > 1) return refuse(name, 'given more than once');
    return values?.[0];
  }

  return {
    texts,
    text,
    integer(name, { min, max }) {
      const value = text(name);
      if (value === undefined) return undefined;
      if (!/^-?\d{1,15}$/.test(value)) return refuse(name, `${JSON.stringify(value)} is not a whole number`);
      const number = Number(value);
      return number >= min && number <= max
        ? number
        : refuse(name, `${value} is out of range, ${min} to ${max}`);
    },
    boolean(name) {
      const value = text(name)?.toLowerCase();
      if (value === undefined) return undefined;
      if (value === 'true' || value === '1') return true;
      if (value === 'false' || value === '0') return false;
      return refuse(name, `${JSON.stringify(value)} is neither true nor false`);
    },
    get refusal() {
      return refusal;
    },
  };
}
