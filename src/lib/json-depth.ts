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

/**
 * Which limit a JSON text exceeds, found by reading the bytes, because the parser would need a stack as deep as the text and memory
 * and time for all of it. Works for any bytes; the content of strings does not count.
 */
export function jsonOutgrows(bytes: Uint8Array, bounds: JsonBounds): keyof JsonBounds | undefined {
  let depth = 0;
  let elements = 0;
  for (let position = 0; position < bytes.length; position++) {
    const byte = bytes[position];
    if (byte === QUOTE) position = endOfString(bytes, position);
    else if (byte === COMMA) elements += 1;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1;
      elements += 1;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    if (depth > bounds.depth) return 'depth';
    if (elements > bounds.elements) return 'elements';
  }
  return undefined;
}

/** @returns the position of the closing quote, or past the end when there is none. */
function endOfString(bytes: Uint8Array, quote: number): number {
  let position = quote + 1;
  while (position < bytes.length && bytes[position] !== QUOTE)
    position += bytes[position] === BACKSLASH ? 2 : 1;
  return position;
}
