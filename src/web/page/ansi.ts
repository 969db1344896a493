/**
 * A line of terminal output as pieces of text with CSS classes: colours (16, 256 and 24 bits), bold, italic, underlined and reverse are
 * kept, every other control sequence is dropped. Decision 0060 says why `ansi_up` is not used.
 *
 *     c1, b1              colours of the page's own palette, for text and for what is behind it
 *     fg-ff8700, bg-…     other colours
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

/** Codes that add a class, and those that take one away. */
const ADDED: { readonly [code: number]: string } = { 1: 'bold', 3: 'italic', 4: 'underline', 7: 'reverse' };
const REMOVED: { readonly [code: number]: string } = {
  22: 'bold',
  23: 'italic',
  24: 'underline',
  27: 'reverse',
};
const TEXT = /^(?:c\d|fg-)/;
const BEHIND = /^(?:b\d|bg-)/;

function classesAfter(classes: string, parameters: string): string {
  const names = new Set(classes.split(' ').filter(name => name !== ''));
  const codes = parameters.split(/[;:]/).map(Number);
  while (codes.length > 0) apply(names, codes);
  return inOrder(names);
}

/** Takes the first code, and the arguments of an extended colour with it. */
function apply(names: Set<string>, codes: number[]): void {
  const code = codes.shift() ?? 0;
  if (code === 0) names.clear();
  else if (ADDED[code] !== undefined) names.add(ADDED[code]);
  else if (REMOVED[code] !== undefined) names.delete(REMOVED[code]);
  else if (code === 38 || code === 48) setColour(names, code === 38, extendedColour(codes));
  else if (code === 39 || code === 49) setColour(names, code === 39, undefined);
  else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) setColour(names, true, code % 10);
  else if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) setColour(names, false, code % 10);
}

/** @param colour of the page's palette, `rrggbb`, or undefined: none. */
function setColour(names: Set<string>, isText: boolean, colour: number | string | undefined): void {
  for (const name of names) if ((isText ? TEXT : BEHIND).test(name)) names.delete(name);
  if (typeof colour === 'number') names.add(`${isText ? 'c' : 'b'}${colour}`);
  if (typeof colour === 'string') names.add(`${isText ? 'fg' : 'bg'}-${colour}`);
}

/** `5;n` or `2;r;g;b`. Undefined: neither. */
function extendedColour(codes: number[]): number | string | undefined {
  const kind = codes.shift();
  if (kind === 2) return codes.splice(0, 3).map(hex).join('').padEnd(6, '0');
  if (kind !== 5) return undefined;
  const index = codes.shift() ?? 0;
  if (index < 16) return index % 8;
  if (index > 255) return undefined;
  if (index >= 232) return hex(8 + (index - 232) * 10).repeat(3);
  const step = (place: number) => [0, 95, 135, 175, 215, 255][Math.floor((index - 16) / place) % 6] ?? 0;
  return [36, 6, 1].map(place => hex(step(place))).join('');
}

function hex(value: number): string {
  return Math.min(255, value || 0)
    .toString(16)
    .padStart(2, '0');
}

/** The same names are the same text. */
function inOrder(names: ReadonlySet<string>): string {
  return [...names].sort().join(' ');
}
