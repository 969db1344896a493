/**
 * `known_hosts` as OpenSSH writes it: which keys a host may have. Pure.
 *
 *     gerrit.example.org,10.0.0.7 ssh-ed25519 AAAA…          port 22
 *     [gerrit.example.org]:29418 ecdsa-sha2-nistp256 AAAA…   another port
 *     |1|<salt>|<HMAC-SHA1 of the name> ssh-rsa AAAA…         a name that is not readable
 *     *.example.org,!old.example.org ssh-rsa AAAA…            patterns
 *     @revoked gerrit.example.org ssh-rsa AAAA…               never this key
 *
 * Certificate authorities (`@cert-authority`) are not supported: their lines count as absent.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** One key that the file names for a host. */
export interface KnownHostKey {
  /** E.g. `ssh-ed25519`. */
  readonly type: string;
  /** As in the file: base64. */
  readonly key: string;
  readonly isRevoked: boolean;
}

/** Whether a host is what it says it is. */
export type HostKeyVerdict = 'known' | 'unknown' | 'other' | 'revoked';

/** Port that a name without brackets stands for. */
const SSH_PORT = 22;

/** @returns keys of the host in all of the text's lines; lines that are not readable are left out. */
export function knownHostKeys(text: string, host: string, port: number): readonly KnownHostKey[] {
  const name = port === SSH_PORT ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`;
  return text.split('\n').flatMap(line => {
    const fields = line.trim().split(/\s+/);
    const marker = fields[0]?.startsWith('@') ? fields.shift() : undefined;
    const [names, type, key] = fields;
    if (names === undefined || type === undefined || key === undefined || names.startsWith('#')) return [];
    if (marker !== undefined && marker !== '@revoked') return [];
    return isNamed(names, name) ? [{ type, key, isRevoked: marker !== undefined }] : [];
  });
}

/**
 * @param known of the host.
 * @param offered the key as the host sent it.
 * @returns `other`: the file has keys of the host, and this is none of them.
 */
export function judgeHostKey(known: readonly KnownHostKey[], offered: Uint8Array): HostKeyVerdict {
  const key = Buffer.from(offered).toString('base64');
  const same = known.filter(each => each.key === key);
  if (same.some(({ isRevoked }) => isRevoked)) return 'revoked';
  if (same.length > 0) return 'known';
  return known.some(({ isRevoked }) => !isRevoked) ? 'other' : 'unknown';
}

/** Of a key as the host sent it, e.g. `ssh-ed25519`; empty: not readable. */
export function hostKeyType(key: Uint8Array): string {
  const bytes = Buffer.from(key);
  if (bytes.length < 4) return '';
  const length = bytes.readUInt32BE(0);
  return length > 64 ? '' : bytes.toString('latin1', 4, 4 + length);
}

function isNamed(names: string, name: string): boolean {
  if (names.startsWith('|')) return isHashOf(names, name);
  const patterns = names.toLowerCase().split(',');
  const isRefused = patterns.some(each => each.startsWith('!') && matches(each.slice(1), name));
  return !isRefused && patterns.some(each => !each.startsWith('!') && matches(each, name));
}

function isHashOf(hashed: string, name: string): boolean {
  const [, version, salt, digest] = hashed.split('|');
  if (version !== '1' || salt === undefined || digest === undefined) return false;
  const expected = Buffer.from(digest, 'base64');
  const actual = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest();
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

/** With `*` and `?` as wildcards; without a regular expression, which a pattern could make slow. */
function matches(pattern: string, name: string): boolean {
  let position = 0;
  let star = -1;
  let retry = 0;
  let at = 0;
  while (position < name.length) {
    const wanted = pattern[at];
    if (wanted === '*') {
      star = at++;
      retry = position;
    } else if (wanted === '?' || wanted === name[position]) {
      at += 1;
      position += 1;
    } else if (star >= 0) {
      at = star + 1;
      position = ++retry;
    } else return false;
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}
