/** Lines that hold colour codes: how wide they look, cut to a width, put side by side. */
import { toWidth, widthOf } from '../../lib/text-width.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what is looked for
const CODES = /\u001b\[[0-9;]*m/g;

export function paintedWidth(text: string): number {
  return widthOf(text.replaceAll(CODES, ''));
}

/** At most `width` columns; what is cut ends in `…`, and no colour leaks out of it. */
export function cutTo(line: string, width: number): string {
  if (paintedWidth(line) <= width) return line;
  const codes = [...line.matchAll(CODES)];
  let left = width;
  let from = 0;
  let cut = '';
  let open = false;
  for (const code of [...codes, undefined]) {
    const text = line.slice(from, code?.index);
    const last = widthOf(text) >= left;
    // One blank more than there is room for: it is cut in any case, as something follows.
    cut += last ? toWidth(`${text} `.padEnd(left + 1), left).trimEnd() : text;
    if (last) break;
    left -= widthOf(text);
    if (code === undefined) break;
    cut += code[0];
    open = code[0] !== '\u001b[0m';
    from = code.index + code[0].length;
  }
  return open ? `${cut}\u001b[0m` : cut;
}

/** Fills with blanks on the right; never cuts. */
export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - paintedWidth(text)));
}

/** Pieces on as few lines as it takes, each kept whole where the width allows; every line begins with `indent`. */
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
    if (line !== '' && paintedWidth(longer) > width) {
      lines.push(line);
      line = indent + piece;
    } else {
      line = longer;
    }
  }
  return line === '' ? lines : [...lines, line];
}

/** A sentence over as many lines as it takes; `first` before the first one, blanks of the same width before the others. */
export function wrapWords(text: string, first: string, width: number): readonly string[] {
  const indent = ' '.repeat(paintedWidth(first));
  const [head = '', ...rest] = wrapPieces(text.split(/ +/), indent, ' ', width);
  return [first + head.slice(indent.length), ...rest];
}
