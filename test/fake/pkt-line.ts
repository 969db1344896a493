/** git's packet lines, as far as hosts for tests need them. */

export const FLUSH = Buffer.from('0000');
export const DELIMITER = '0001';

export function packet(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  const length = (bytes.length + 4).toString(16).padStart(4, '0');
  return Buffer.concat([Buffer.from(length), bytes]);
}

/** In pieces that a client with `side-band-64k` takes. @param band 1: data, 2: text for people, 3: fatal */
export function onBand(band: 1 | 2 | 3, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 65_000)
    pieces.push(packet(Buffer.concat([Buffer.from([band]), bytes.subarray(at, at + 65_000)])));
  return Buffer.concat(pieces);
}

/** Lines until the first flush or delimiter, and what follows it. */
export function readPackets(bytes: Buffer): { readonly lines: readonly string[]; readonly rest: Buffer } {
  const lines: string[] = [];
  let at = 0;
  while (at + 4 <= bytes.length) {
    const length = Number.parseInt(bytes.subarray(at, at + 4).toString(), 16);
    if (length < 4) return { lines, rest: bytes.subarray(at + 4) };
    lines.push(bytes.subarray(at + 4, at + length).toString());
    at += length;
  }
  return { lines, rest: Buffer.alloc(0) };
}
