/** The encoding of ssh: a text is its length, 4 bytes, and its bytes. */

export function readText(from: Buffer): { readonly bytes: Buffer; readonly rest: Buffer } | undefined {
  if (from.length < 4) return undefined;
  const end = 4 + from.readUInt32BE(0);
  return end > from.length ? undefined : { bytes: from.subarray(4, end), rest: from.subarray(end) };
}

export function sshText(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([sshWhole(bytes.length), bytes]);
}

export function sshWhole(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
