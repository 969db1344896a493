/** Public keys of hosts, as in `known_hosts` and in the output of ssh-keyscan, without the names before them. */

/** `type`: the algorithm; `blob`: what the host shows. */
export interface HostKey {
  readonly type: string;
  readonly blob: Buffer;
  /** Both, without a comment. */
  readonly text: string;
}

const TYPES = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'ssh-rsa',
] as const;

/** Undefined: it is none, or of a kind that is not known here. */
export function parseHostKey(text: string): HostKey | undefined {
  const [type = '', encoded = ''] = text.trim().split(/\s+/);
  const known = TYPES.find(each => each === type);
  if (known === undefined || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return undefined;
  const blob = Buffer.from(encoded, 'base64');
  // It begins with the same name.
  const length = blob.length < 4 ? 0 : blob.readUInt32BE(0);
  if (blob.subarray(4, 4 + length).toString('latin1') !== known || blob.length <= 4 + length)
    return undefined;
  return { type: known, blob, text: `${known} ${encoded}` };
}
