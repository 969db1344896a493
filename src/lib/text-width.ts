/**
 * Texts in columns of a terminal: their width, cut and filled to a width. Colour codes have no width and never leak out of a cut.
 * Control characters of foreign texts never reach a terminal.
 */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { ownModule } from './own-file.ts';

/** Colour codes, each a piece of its own, and what stands between them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what is looked for
const PIECES = /\u001b\[[0-9;]*m|[^\u001b]+|\u001b/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: likewise
const COLOUR_CODE = /\u001b\[[0-9;]*m/g;
const RESET = '\u001b[0m';
const WIDE = ownModule('src/lib/wide-text');
/** Made when they are needed: most texts are ASCII. */
let columnsOf: typeof import('./wide-text.ts').columnsOf | undefined;
let graphemes: Intl.Segmenter | undefined;

function segmentsOf(text: string): Iterable<{ readonly segment: string }> {
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return graphemes.segment(text);
}

/** Printable, on one line. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\ufffd');
}

/** In columns: wide characters count two, colour codes and combining characters none. */
export function widthOf(text: string): number {
  const plain = text.replaceAll(COLOUR_CODE, '');
  if (/^[\x20-\x7e]*$/.test(plain)) return plain.length;
  columnsOf ??= (createRequire(WIDE)(fileURLToPath(WIDE)) as typeof import('./wide-text.ts')).columnsOf;
  return columnsOf(plain);
}

/** At most `width` columns; a cut text ends in `…`. */
export function cutTo(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width <= 0) return '';
  let cut = '';
  let left = width - 1;
  let colour = '';
  for (const [piece] of text.matchAll(PIECES)) {
    if (piece.startsWith('\u001b[')) {
      cut += piece;
      colour = piece === RESET ? '' : piece;
      continue;
    }
    for (const { segment } of segmentsOf(piece)) {
      left -= widthOf(segment);
      if (left < 0) return `${cut}…${colour === '' ? '' : RESET}`;
      cut += segment;
    }
  }
  return cut;
}

/**
 * The whole text in pieces of at most `width` columns, none of them empty. A colour that is on at a break goes on in the next piece.
 *
 * @param width at least 2: a wide character has no room in less.
 */
export function brokenTo(text: string, width: number): readonly string[] {
  const pieces: string[] = [];
  let [line, columns, colour] = ['', 0, ''];
  for (const [piece] of text.matchAll(PIECES)) {
    if (piece.startsWith('\u001b[')) {
      line += piece;
      colour = piece === RESET ? '' : piece;
      continue;
    }
    for (const { segment } of segmentsOf(piece)) {
      const more = widthOf(segment);
      if (columns > 0 && columns + more > width) {
        pieces.push(colour === '' ? line : line + RESET);
        [line, columns] = [colour, 0];
      }
      line += segment;
      columns += more;
    }
  }
  return columns === 0 && pieces.length > 0 ? pieces : [...pieces, line];
}

/** Exactly `width` columns: cut, or filled with spaces on the other side. */
export function toWidth(text: string, width: number, side: 'left' | 'right' = 'left'): string {
  const cut = cutTo(text, width);
  const fill = ' '.repeat(Math.max(0, width - widthOf(cut)));
  return side === 'left' ? cut + fill : fill + cut;
}

/** Filled with spaces on the right; never cut. */
export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}
