/**
 * Texts with replacement fields in Python's form, as Zuul's configuration has them: `Starting {pipeline.name} jobs: {item_url}`.
 *
 * `{{` and `}}` are braces. A field is a name, then any number of `.name` and `[number]`. Conversions (`!r`) and formats (`:>10`) are
 * refused: nothing in Zuul's own configuration needs them.
 */

/** What fields may name. A mapping with a text for `''` stands for that text itself. */
export type FormatValue = string | { readonly [name: string]: FormatValue } | readonly FormatValue[];

/** A text that is ready to be filled in. */
interface Format {
  readonly kind: 'format';
  /** A field without a value is empty; several values of one are joined with spaces. */
  fill(values: { readonly [name: string]: FormatValue }): string;
}

type Part = string | readonly (string | number)[];

const MOST_FIELDS = 100;

/**
 * @param example one value of each field that there is; of a list its first element stands for all.
 * @returns `invalid`: the reason, in one clause, with what is known.
 */
export function parseFormat(
  text: string,
  example: { readonly [name: string]: FormatValue },
): Format | { readonly kind: 'invalid'; readonly reason: string } {
  const parts: Part[] = [];
  const pattern = /\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+/g;
  for (const [token, field] of text.matchAll(pattern)) {
    if (token === '{{' || token === '}}') parts.push(token.slice(1));
    else if (token === '{' || token === '}')
      return {
        kind: 'invalid',
        reason: `a single "${token}" is not allowed; write "${token}${token}" for the character`,
      };
    else if (field === undefined) parts.push(token);
    else {
      const path = pathOf(field);
      if (path === undefined || valueAt(path, example) === undefined)
        return {
          kind: 'invalid',
          reason: `{${field}} is no replacement field; known are ${namesOf(example)}`,
        };
      parts.push(path);
    }
  }
  if (parts.length > 2 * MOST_FIELDS)
    return { kind: 'invalid', reason: `there are more than ${MOST_FIELDS} replacement fields` };
  return {
    kind: 'format',
    fill: values =>
      parts.map(part => (typeof part === 'string' ? part : shown(valueAt(part, values, true)))).join(''),
  };
}

function pathOf(field: string): readonly (string | number)[] | undefined {
  if (!/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d{1,4}\])*$/.test(field)) return undefined;
  return [...field.matchAll(/[A-Za-z_]\w*|\d+/g)].map(([part]) => (/^\d/.test(part) ? Number(part) : part));
}

/** @param isReal false: any element of a list is as its first. */
function valueAt(
  path: readonly (string | number)[],
  values: FormatValue,
  isReal = false,
): FormatValue | undefined {
  let at: FormatValue | undefined = values;
  for (const step of path) {
    if (at === undefined || typeof at === 'string') return undefined;
    if (isList(at)) at = typeof step === 'number' ? at[isReal ? step : 0] : undefined;
    else at = typeof step === 'string' && Object.hasOwn(at, step) ? at[step] : undefined;
  }
  return at;
}

function isList(value: FormatValue): value is readonly FormatValue[] {
  return Array.isArray(value);
}

function shown(value: FormatValue | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return value;
  return isList(value) ? value.map(shown).join(' ') : shown(value['']);
}

function namesOf(example: { readonly [name: string]: FormatValue }): string {
  return Object.entries(example)
    .flatMap(([name, value]) => {
      const [element] = isList(value) ? value : [value];
      const whole = isList(value) ? `${name}[0]` : name;
      const inner = typeof element === 'object' && !isList(element) ? Object.keys(element) : [];
      const named = inner.filter(each => each !== '').map(each => `${whole}.${each}`);
      return inner.length === 0 || inner.includes('') ? [name, ...named] : named;
    })
    .join(', ');
}
