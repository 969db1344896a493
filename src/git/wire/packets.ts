/**
 * Packets of git's wire protocol: four hexadecimal digits, the length of the whole packet, and its content. Lengths below four are
 * marks without content. Source: git's `gitprotocol-common`, `gitprotocol-v2`.
 */

/** One packet of an answer. */
export type GitPacket =
  | { readonly kind: 'content'; readonly content: Buffer }
  /** The end of an answer, of a part of it, or of one response of a stateless connection. */
  | { readonly kind: 'flush' | 'delimiter' | 'response-end' };

export const FLUSH = '0000';
export const DELIMITER = '0001';

const MARKS: { readonly [length: number]: 'flush' | 'delimiter' | 'response-end' } = {
  0: 'flush',
  1: 'delimiter',
  2: 'response-end',
};
const DIGITS = 4;

/** @param line ASCII, without line end. */
export function packet(line: string): string {
  return `${(line.length + DIGITS + 1).toString(16).padStart(DIGITS, '0')}${line}\n`;
}

/** @returns undefined: the bytes are not whole packets. */
export function readPackets(bytes: Buffer): readonly GitPacket[] | undefined {
  const packets: GitPacket[] = [];
  for (let at = 0; at < bytes.length; ) {
    const digits = bytes.toString('latin1', at, at + DIGITS);
    if (!/^[0-9a-f]{4}$/i.test(digits)) return undefined;
    const length = Number.parseInt(digits, 16);
    const kind = MARKS[length];
    if (kind === undefined && (length < DIGITS || at + length > bytes.length)) return undefined;
    packets.push(
      kind === undefined ? { kind: 'content', content: bytes.subarray(at + DIGITS, at + length) } : { kind },
    );
    at += kind === undefined ? length : DIGITS;
  }
  return packets;
}

/** How many bytes packets take. */
export function bytesOf(packets: readonly GitPacket[]): number {
  return packets.reduce((sum, each) => sum + DIGITS + (each.kind === 'content' ? each.content.length : 0), 0);
}
