/**
 * The value of a plain scalar, by the core schema of YAML 1.2. `yes`, `no`, `on`, `off`, `12:30` and dates are strings, unlike in
 * YAML 1.1 (and Zuul); where another type is expected, the error names the string.
 */
export type ScalarValue =
  | { readonly kind: 'value'; readonly value: null | boolean | number | string }
  | { readonly kind: 'invalid'; readonly text: string };

const WORDS: ReadonlyMap<string, null | boolean> = new Map([
  ['', null],
  ['~', null],
  ['null', null],
  ['Null', null],
  ['NULL', null],
  ['true', true],
  ['True', true],
  ['TRUE', true],
  ['false', false],
  ['False', false],
  ['FALSE', false],
]);

const DECIMAL = /^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$/;
const OCTAL_OR_HEX = /^0(o[0-7]+|x[0-9a-fA-F]+)$/;
const NO_NUMBER = /^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$/;

/** @param text as written. `invalid`: a number that has no or several meanings; the text says what to do. */
export function plainScalar(text: string): ScalarValue {
  const word = WORDS.get(text);
  if (word !== undefined) return { kind: 'value', value: word };
  if (NO_NUMBER.test(text))
    return { kind: 'invalid', text: `${text} is not supported as a number; quote it to make it a string` };
  if (!DECIMAL.test(text) && !OCTAL_OR_HEX.test(text)) return { kind: 'value', value: text };
  if (/^[-+]?0\d/.test(text)) {
    return {
      kind: 'invalid',
      text: `${text} starts with 0, which YAML versions read differently; quote it or drop the 0`,
    };
  }
  const value = Number(text);
  if (!Number.isFinite(value))
    return { kind: 'invalid', text: `${text} is too large a number; quote it to make it a string` };
  if (/^[-+]?\d+$/.test(text) && !Number.isSafeInteger(value)) {
    return { kind: 'invalid', text: `${text} has more digits than a number can hold; quote it` };
  }
  return { kind: 'value', value };
}
