/**
 * Negative lookaheads at the start of an expression, which is how Python's users write "all but": RE2 has none, but there they only say
 * what the text may not start with. `^(?!stable/|wip/).*$` is `^(?:.*$)` for texts where `^(?:stable/|wip/)` does not match.
 */

/** An expression without its lookaheads: it matches where `rest` does and none of `exceptions`, all from the start of the text. */
export interface WithExceptions {
  readonly exceptions: readonly string[];
  readonly rest: string;
}

const LOOKAHEAD = '(?!';

/** @returns undefined: it does not begin with `^(?!`, or is not of this form as a whole. Both parts may still be no RE2. */
export function withExceptions(source: string): WithExceptions | undefined {
  let rest = source.startsWith(`^${LOOKAHEAD}`) ? source.slice(1) : '';
  const exceptions: string[] = [];
  while (rest.startsWith(LOOKAHEAD)) {
    const end = closingOf(rest);
    if (end === undefined) return undefined;
    exceptions.push(`^(?:${rest.slice(LOOKAHEAD.length, end)})`);
    rest = rest.slice(end + 1);
  }
  // Behind a repetition the lookahead would mean something else, and so would `^` in front of alternatives.
  if (exceptions.length === 0 || /^[*+?{]/.test(rest) || hasAlternatives(rest)) return undefined;
  return { exceptions, rest: `^(?:${rest})` };
}

/** Of the group that `text` begins with. */
function closingOf(text: string): number | undefined {
  for (const { at, depth, sign } of signsOf(text)) if (sign === ')' && depth === 0) return at;
  return undefined;
}

function hasAlternatives(text: string): boolean {
  for (const { depth, sign } of signsOf(text)) if (sign === '|' && depth === 0) return true;
  return false;
}

/** Signs with a meaning for groups, outside of escapes and classes. @returns `depth`: of groups that are open behind the sign. */
function* signsOf(
  text: string,
): Generator<{ readonly at: number; readonly depth: number; readonly sign: string }> {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? '';
    if (sign === '\\') at += 1;
    else if (sign === '[') at = endOfClass(text, at);
    else {
      if (sign === '(') depth += 1;
      if (sign === ')') depth -= 1;
      yield { at, depth, sign };
    }
  }
}

/** @param start of its bracket. @returns the place of the closing one, or of the end of the text. A bracket in front is a member. */
function endOfClass(text: string, start: number): number {
  const first = text[start + 1] === '^' ? start + 2 : start + 1;
  for (let at = text[first] === ']' ? first + 1 : first; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === ']') return at;
  }
  return text.length;
}
