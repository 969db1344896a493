/** A line without its end. `bad`: it is not UTF-8 or holds a NUL; `reason` goes into the problem at that line. */
export type DecodedLine =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'bad'; readonly reason: string };

/** Lines of a UTF-8 file (`\n`, `\r\n` or `\r`; a leading byte order mark is dropped), each on its own good or bad. */
export function decodeLines(content: Uint8Array): readonly DecodedLine[] {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  return splitLines(content).map(bytes => {
    try {
      const text = decoder.decode(bytes);
      return text.includes('\0')
        ? { kind: 'bad', reason: 'the line holds a NUL byte' }
        : { kind: 'text', text };
    } catch {
      return { kind: 'bad', reason: 'the line is not UTF-8; save the file as UTF-8' };
    }
  });
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

function splitLines(content: Uint8Array): readonly Uint8Array[] {
  const lines: Uint8Array[] = [];
  let start = 0;
  for (let index = 0; index < content.length; index++) {
    const byte = content[index];
    if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) continue;
    lines.push(content.subarray(start, index));
    if (byte === CARRIAGE_RETURN && content[index + 1] === LINE_FEED) index++;
    start = index + 1;
  }
  lines.push(content.subarray(start));
  return lines;
}
