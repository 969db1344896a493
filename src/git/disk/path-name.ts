/**
 * One file name for any text, different for different texts: names connections and projects below the cache's root and remote
 * refs in a mirror. Letters, digits, `_`, `-` and inner dots stay readable, everything else is
 * percent-encoded byte by byte; what gets too long for a file name ends in a hash instead.
 *
 *     pathName('acme/app')   → 'acme%2Fapp'
 *     pathName('..')         → '%2E%2E'
 */
import { createHash } from 'node:crypto';

/** File systems allow 255 bytes; git appends `.lock`, we append `.git`. */
const LONGEST = 220;
const HEAD = 140;

/** @returns 1 to 220 ASCII characters, also for an empty text. */
export function pathName(text: string): string {
  const encoded = [...Buffer.from(text.toWellFormed())]
    .map(encodeByte)
    .join('')
    .replace(/^\.+|\.+(?=\.|$)/g, dots => '%2E'.repeat(dots.length));
  if (encoded.length <= LONGEST && encoded !== '') return encoded;
  // `=` stands in no encoded text, so a shortened name never equals a full one.
  return `${encoded.slice(0, HEAD)}=${createHash('sha256').update(text).digest('hex')}`;
}

function encodeByte(byte: number): string {
  const character = String.fromCharCode(byte);
  return /[A-Za-z0-9_.-]/.test(character)
    ? character
    : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}
