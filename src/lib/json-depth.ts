const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Whether brackets in a JSON text nest deeper than `limit`: found by looking at the bytes, because the parser would need
 * a stack as deep as the text says. Works for any bytes; brackets within strings do not count.
 */
export function isNestedDeeperThan(bytes: Uint8Array, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let position = 0; position < bytes.length; position++) {
    const byte = bytes[position];
    if (inString) {
      if (byte === BACKSLASH) position += 1;
      else if (byte === QUOTE) inString = false;
      continue;
    }
    if (byte === QUOTE) inString = true;
    else if (byte === 0x5b || byte === 0x7b) depth += 1;
    else if (byte === 0x5d || byte === 0x7d) depth -= 1;
    if (depth > limit) return true;
  }
  return false;
}
