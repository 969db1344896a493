/** Wraps text over several terminal lines. */
import { widthOf } from '../../lib/text-width.ts';

/** Pieces on as few lines as possible, each kept whole if the width allows; every line begins with `indent`. */
export function wrapPieces(
  pieces: readonly string[],
  indent: string,
  gap: string,
  width: number,
): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const piece of pieces) {
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

/** Wraps a sentence; `first` begins the first line, blanks of the same width the others. */
export function wrapWords(text: string, first: string, width: number): readonly string[] {
  const indent = ' '.repeat(widthOf(first));
  const [head = '', ...rest] = wrapPieces(text.split(/ +/), indent, ' ', width);
  return [first + head.slice(indent.length), ...rest];
}
