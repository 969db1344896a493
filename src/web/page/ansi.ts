/**
 * A line of terminal output as pieces of text with CSS classes: 16 colours and bold are kept, every other control sequence is
 * dropped. Decision 0060 says why `ansi_up` is not used.
 */
import { CONTROL_SEQUENCES } from '../../lib/terminal-sequences.ts';

/** Text without control sequences, to be shown as a text node. */
export interface Piece {
  readonly text: string;
  /** Space-separated. */
  readonly classes: string;
}

/** @param classes in force at the beginning of the line; empty: none. @returns also those in force at its end. */
export function piecesOf(
  line: string,
  classes: string,
): { readonly pieces: readonly Piece[]; readonly classes: string } {
  const pieces: Piece[] = [];
  let current = classes;
  let position = 0;
  const take = (end: number) => {
    if (end > position) pieces.push({ text: line.slice(position, end), classes: current });
  };
  for (const match of line.matchAll(CONTROL_SEQUENCES)) {
    take(match.index);
    position = match.index + match[0].length;
    if (match[1] !== undefined) current = classesAfter(current, match[1]);
  }
  take(line.length);
  return { pieces, classes: current };
}

function classesAfter(classes: string, parameters: string): string {
  let isBold = classes.includes('bold');
  let colour = /c\d/.exec(classes)?.[0] ?? '';
  for (const code of parameters.replaceAll(EXTENDED, basicCode).split(/[;:]/).map(Number)) {
    if (code === 0) [isBold, colour] = [false, ''];
    else if (code === 1 || code === 22) isBold = code === 1;
    else if (code === 39) colour = '';
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) colour = `c${code % 10}`;
  }
  return [isBold ? 'bold' : '', colour].filter(name => name !== '').join(' ');
}

/** `38;5;n` and `38;2;r;g;b` of the foreground, `48` of the background: their arguments are no codes. */
const EXTENDED = /\b([34])8[;:](?:5[;:](\d+)|2(?:[;:]\d*){3})/g;

/** The page has classes for the first 16 colours; others become the default colour. */
function basicCode(_sequence: string, layer: string, index: string | undefined): string {
  const number = Number(index ?? 16);
  return `${layer}${number < 16 ? number % 8 : 9}`;
}
