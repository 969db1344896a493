const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

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
  let inString = false;
  for (let position = 0; position < bytes.length; position++) {
    const byte = bytes[position];
    if (inString) {
      if (byte === BACKSLASH) position += 1;
      else if (byte === QUOTE) inString = false;
      continue;
    }
    if (byte === QUOTE) inString = true;
    else if (byte === COMMA) elements += 1;
    else if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      elements += 1;
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1;
    if (depth > bounds.depth) return 'depth';
    if (elements > bounds.elements) return 'elements';
  }
  return undefined;
}
