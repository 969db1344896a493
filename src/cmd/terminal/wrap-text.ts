/** Wraps text over several terminal lines. */
import { brokenTo, widthOf } from '../../lib/text-width.ts';

/**
 * Pieces on as few lines as possible; every line begins with `indent`. A piece is kept whole if the width allows; a longer one is broken between
 * its words, and a longer word anywhere, but not an address, which would be of no use in parts.
 */
export function wrapPieces(
  pieces: readonly string[],
  indent: string,
  gap: string,
  width: number,
): readonly string[] {
  const room = Math.max(NARROWEST, width - widthOf(indent));
  const lines: string[] = [];
  let line = '';
  for (const piece of pieces.flatMap(each => fitting(each, room))) {
    const longer = line === '' ? indent + piece : line + gap + piece;
    if (line !== '' && widthOf(longer) > width) {
      lines.push(line);
      line = indent + piece;
    } else {
      line = longer;
    }
  }
  return line === '' ? lines : [...lines, line];
}

/** Columns that a text gets however little room there is. */
const NARROWEST = 8;

function fitting(piece: string, room: number): readonly string[] {
  if (widthOf(piece) <= room) return [piece];
  const words = piece.split(' ').flatMap(word => (/https?:\/\//.test(word) ? [word] : brokenTo(word, room)));
  const lines: string[] = [];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length === 0 || widthOf(longer) > room) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** Wraps a sentence; `first` begins the first line, blanks of the same width the others. */
export function wrapWords(text: string, first: string, width: number): readonly string[] {
  const indent = ' '.repeat(widthOf(first));
  const [head = '', ...rest] = wrapPieces(text.split(/ +/), indent, ' ', width);
  return [first + head.slice(indent.length), ...rest];
}
