import { endOfJsonString } from './json-string.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Limits of a JSON text other than its bytes. */
export interface JsonBounds {
  readonly depth: number;
  /** Values at any depth: each needs a comma or a bracket before it. */
  readonly elements: number;
}

/** @returns whether brackets in a JSON text nest deeper than `limit`. */
export function isNestedDeeperThan(bytes: Uint8Array, limit: number): boolean {
  return jsonOutgrows(bytes, { depth: limit, elements: Number.POSITIVE_INFINITY }) !== undefined;
}

/** Bytes that are looked at as one text. */
const WINDOW = 65_536;

/**
 * Which limit a JSON text exceeds, found without the parser, which would need a stack as deep as the text and memory and time for all
 * of it. Works for any bytes; the content of strings does not count.
 */
export function jsonOutgrows(bytes: Uint8Array, bounds: JsonBounds): keyof JsonBounds | undefined {
  const seen: Seen = { depth: 0, elements: 0, inString: false };
  for (const text of windowsOf(bytes)) {
    const outgrown = outgrownIn(text, seen, bounds);
    if (outgrown !== undefined) return outgrown;
  }
  return undefined;
}

/** Of the windows so far. */
interface Seen {
  depth: number;
  elements: number;
  /** The last window ended within a string. */
  inString: boolean;
}

function outgrownIn(text: string, seen: Seen, bounds: JsonBounds): keyof JsonBounds | undefined {
  let position = seen.inString ? endOfJsonString(text, 0) + 1 : 0;
  for (; position < text.length; position++) {
    const character = text.charCodeAt(position);
    if (character === QUOTE) position = endOfJsonString(text, position + 1);
    else count(character, seen);
    if (seen.depth > bounds.depth) return 'depth';
    if (seen.elements > bounds.elements) return 'elements';
  }
  seen.inString = position > text.length;
  return undefined;
}

function count(character: number, seen: Seen): void {
  if (character === COMMA) seen.elements += 1;
  else if (character === OPEN_LIST || character === OPEN_OBJECT) {
    seen.depth += 1;
    seen.elements += 1;
  } else if (character === CLOSE_LIST || character === CLOSE_OBJECT) seen.depth -= 1;
}

/**
 * One character a byte: what JSON is made of outside of strings is ASCII, and no byte of another character looks like it. No window ends behind a
 * backslash, so that whether a quote is escaped shows within its window.
 */
function* windowsOf(bytes: Uint8Array): Generator<string> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let begin = 0, end = 0; begin < buffer.length; begin = end) {
    end = Math.min(begin + WINDOW, buffer.length);
    while (end < buffer.length && buffer[end - 1] === BACKSLASH) end += 1;
    yield buffer.toString('latin1', begin, end);
  }
}
