/**
 * Reads some members of a JSON object without parsing the others: a push may list 20 000 commits, of which none is of interest.
 */

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const OPEN_LIST = 0x5b;
const CLOSE_OBJECT = 0x7d;
const CLOSE_LIST = 0x5d;

/** Largest member that is parsed; GitHub's largest, a pull request with its repositories, has some hundred kilobytes. */
const MOST_MEMBER_BYTES = 4 * 1024 * 1024;

/** Members of the object by name. */
export type TopLevel = ReadonlyMap<string, unknown>;

/** @returns the wanted members that are there; undefined: not a JSON object, as far as it was read, or a member is too large. */
export function readTopLevel(bytes: Uint8Array, wanted: ReadonlySet<string>): TopLevel | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const members = new Map<string, unknown>();
  for (const { name, start, end } of membersOf(buffer)) {
    if (!wanted.has(name)) continue;
    if (end - start > MOST_MEMBER_BYTES) return undefined;
    try {
      members.set(name, JSON.parse(buffer.toString('utf8', start, end)));
    } catch {
      return undefined;
    }
  }
  return /^\s*\{/.test(buffer.toString('latin1', 0, 64)) && isClosed(buffer) ? members : undefined;
}

interface Member {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

function* membersOf(bytes: Buffer): Generator<Member> {
  let position = bytes.indexOf(OPEN_OBJECT);
  while (position >= 0 && position < bytes.length && bytes[position] !== CLOSE_OBJECT) {
    const quote = bytes.indexOf(QUOTE, position);
    if (quote < 0) return;
    const nameEnd = endOfText(bytes, quote);
    const colon = bytes.indexOf(COLON, nameEnd);
    if (colon < 0) return;
    const end = endOfValue(bytes, colon + 1);
    yield { name: bytes.toString('utf8', quote + 1, nameEnd), start: colon + 1, end };
    position = end;
  }
}

/** Position of the comma or bracket behind the value, or past the end. */
function endOfValue(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let position = start; position < bytes.length; position++) {
    const byte = bytes[position];
    if (byte === QUOTE) position = endOfText(bytes, position);
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1;
    else if (depth === 0 && (byte === COMMA || byte === CLOSE_OBJECT)) return position;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth -= 1;
  }
  return bytes.length;
}

/** Position of the closing quote, or past the end. */
function endOfText(bytes: Buffer, quote: number): number {
  let position = quote + 1;
  while (position < bytes.length && bytes[position] !== QUOTE)
    position += bytes[position] === BACKSLASH ? 2 : 1;
  return position;
}

function isClosed(bytes: Buffer): boolean {
  return /\}\s*$/.test(bytes.toString('latin1', Math.max(0, bytes.length - 64)));
}
