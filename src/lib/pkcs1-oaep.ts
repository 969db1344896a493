/**
 * Zuul's encryption of secrets, `!encrypted/pkcs1-oaep`: RSAES-OAEP of PKCS#1 with SHA-1, for the hash and for MGF1, and no label. A
 * text longer than one block is cut into chunks, each encrypted by itself.
 *
 *     encryptOaep('hunter2', publicPem)        // ['Kx0r…'], base64, one for each chunk
 *     await createOaepOpener(privateKey)(chunks)       // a Buffer, or undefined: not of this key, or damaged
 *
 * With SHA-1 it is not weakened by the collisions of SHA-1; the format has no room for another hash.
 */
import { constants, createPublicKey, type KeyObject, publicEncrypt, type webcrypto } from 'node:crypto';

const HASH_BYTES = 20;

/** @returns the plain bytes of all chunks, joined; undefined when one of them is not of this key. */
export type OaepOpener = (chunks: readonly string[]) => Promise<Buffer | undefined>;

/**
 * @param publicKey PEM. @returns base64; at least one chunk. Chunks end between characters, because Zuul decodes each by itself.
 * @throws TypeError when it is no RSA key of 1024 bits or more.
 */
export function encryptOaep(text: string, publicKey: string): readonly string[] {
  const key = createPublicKey(publicKey);
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (key.asymmetricKeyType !== 'rsa' || bits < 1024)
    throw new TypeError('not an RSA key of 1024 bits or more');
  const most = bits / 8 - 2 * HASH_BYTES - 2;
  return chunksOf(text, most).map(chunk =>
    publicEncrypt(
      { key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha1' },
      Buffer.from(chunk),
    ).toString('base64'),
  );
}

function chunksOf(text: string, most: number): readonly string[] {
  const chunks: string[] = [];
  let chunk = '';
  let bytes = 0;
  for (const character of text.toWellFormed()) {
    const size = Buffer.byteLength(character);
    if (bytes + size > most) {
      chunks.push(chunk);
      chunk = '';
      bytes = 0;
    }
    chunk += character;
    bytes += size;
  }
  return [...chunks, chunk];
}

/** Decrypts in threads, beside the event loop. */
export function createOaepOpener(privateKey: KeyObject): OaepOpener {
  let imported: Promise<webcrypto.CryptoKey> | undefined;
  return async chunks => {
    imported ??= importKey(privateKey);
    const key = await imported;
    const parts: Buffer[] = [];
    for (const chunk of chunks) {
      try {
        parts.push(
          Buffer.from(await crypto.subtle.decrypt({ name: 'RSA-OAEP' }, key, Buffer.from(chunk, 'base64'))),
        );
      } catch (error) {
        if (error instanceof DOMException && error.name === 'OperationError') return undefined;
        throw error;
      }
    }
    return Buffer.concat(parts);
  };
}

function importKey(privateKey: KeyObject): Promise<webcrypto.CryptoKey> {
  const bytes = privateKey.export({ type: 'pkcs8', format: 'der' });
  return crypto.subtle.importKey('pkcs8', bytes, { name: 'RSA-OAEP', hash: 'SHA-1' }, false, ['decrypt']);
}
