/**
 * Terminal output as pieces of text with a colour: colours are kept, everything else a terminal would obey (titles,
 * cursor moves, links) is dropped.
 */
const COLOUR = String.raw`\x1b\[([0-9;]*)m`;
const OTHER_CSI = String.raw`\x1b\[[0-?]*[ -/]*[@-~]`;
const OSC = String.raw`\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?`;
const OTHER_ESCAPE = String.raw`\x1b[@-_]?`;
/** Two characters, not the beginning of something longer; the second half of an OSC's end is one. */
const WHOLE_ESCAPE = String.raw`\x1b[@-Z\\^_]`;
const CONTROL = String.raw`[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]`;
const SEQUENCE = new RegExp([COLOUR, OTHER_CSI, OSC, OTHER_ESCAPE, CONTROL].join('|'), 'g');
const COMPLETE = new RegExp(`^(?:${[COLOUR, OTHER_CSI, OSC.replace(/\?$/, ''), WHOLE_ESCAPE].join('|')})`);
/** A longer beginning of a sequence is none. */
const LONGEST_SEQUENCE = 200;

export interface Piece {
  readonly text: string;
  /** Space-separated. */
  readonly classes: string;
}

/** @param state carried from one call to the next; begins as two empty texts. */
export function pieces(added: string, state: { classes: string; rest: string }): Piece[] {
  const whole = state.rest + added;
  const text = whole.slice(0, completeLength(whole));
  state.rest = whole.slice(text.length);
  const found: Piece[] = [];
  let position = 0;
  for (const match of text.matchAll(SEQUENCE)) {
    if (match.index > position)
      found.push({ text: text.slice(position, match.index), classes: state.classes });
    position = match.index + match[0].length;
    if (match[1] !== undefined) state.classes = classesAfter(state.classes, match[1]);
  }
  if (position < text.length) found.push({ text: text.slice(position), classes: state.classes });
  return found;
}

/** Without a sequence whose end has not arrived yet. */
function completeLength(text: string): number {
  const begin = text.lastIndexOf('\x1b');
  if (begin < 0 || text.length - begin > LONGEST_SEQUENCE) return text.length;
  return COMPLETE.test(text.slice(begin)) ? text.length : begin;
}

function classesAfter(classes: string, codes: string): string {
  let set = new Set(classes.split(' ').filter(name => name !== ''));
  for (const code of codes.split(';').map(Number)) {
    if (code === 0) set = new Set<string>();
    else if (code === 1) set.add('bold');
    else if (code === 22) set.delete('bold');
    else if ((code >= 30 && code <= 39) || (code >= 90 && code <= 97)) {
      set = new Set([...set].filter(name => !name.startsWith('c')));
      if (code !== 39) set.add(`c${code % 10}`);
    }
  }
  return [...set].join(' ');
}
