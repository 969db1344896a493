/**
 * Negative lookaheads behind a fixed beginning, which is how Python's users write "all but": RE2 has none, but there they only say what may
 * not come next. `^stable/(?!1|2).*$` is `^(?:.*$)` for what follows `stable/`, where `^(?:1|2)` does not match.
 */

/** An expression without its lookaheads: what follows `prefix` matches `rest` and none of `exceptions`, all from its start. */
export interface WithExceptions {
  /** It begins with `^`. */
  readonly isAnchored: boolean;
  /** Text, not an expression. */
  readonly prefix: string;
  readonly exceptions: readonly string[];
  readonly rest: string;
}

const LOOKAHEAD = '(?!';

/** `^`, and characters without a meaning or escaped punctuation. */
const BEGINNING = /^(\^?)((?:[\w/ @:,=<>~#%&;"'!-]|\\[^\w\s])*)\(\?!/;

/** What looks at the text in front of it, which is cut off. */
const LOOKS_BACK = /\^|\\[bBA]|\(\?[a-z]*m/;

/** @returns undefined: it has no lookahead behind a fixed beginning, or is not of this form as a whole. Both parts may still be no RE2. */
export function withExceptions(source: string): WithExceptions | undefined {
  const [, anchor, literal] = BEGINNING.exec(source) ?? [];
  if (anchor === undefined || literal === undefined) return undefined;
  let rest = source.slice(anchor.length + literal.length);
  const exceptions: string[] = [];
  while (rest.startsWith(LOOKAHEAD)) {
    const end = closingOf(rest);
    if (end === undefined) return undefined;
    exceptions.push(`^(?:${rest.slice(LOOKAHEAD.length, end)})`);
    rest = rest.slice(end + 1);
  }
  // Behind a repetition the lookahead would mean something else, and so would the beginning in front of alternatives.
  if (/^[*+?{]/.test(rest) || hasAlternatives(rest)) return undefined;
  const isStart = anchor !== '' && literal === '';
  if (!isStart && [rest, ...exceptions.map(each => each.slice(1))].some(each => LOOKS_BACK.test(each)))
    return undefined;
  const prefix = literal.replaceAll(/\\(.)/g, '$1');
  return { isAnchored: anchor !== '', prefix, exceptions, rest: `^(?:${rest})` };
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
