/**
 * Texts sealed with a key, and the key made of a password.
 *
 *     const key = await keyOfPassword(password, { salt, cost });      // scrypt: slow on purpose, once per process
 *     const sealed = seal(key, 'private', 'keystore master');         // AES-256-GCM
 *     unseal(key, sealed, 'keystore master')?.toString()              // 'private'
 *
 * A text opens with the same key and for the same context only, so that no sealed text can take the place of another.
 */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import type { Secret } from './secret.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Of scrypt: with it one guess takes `128 * cost * BLOCK` bytes. */
const BLOCK = 8;
const MOST_MEMORY = 256 * 1024 * 1024;

/** How a key is made of a password. */
export interface PasswordCost {
  /** Base64 of random bytes, so that equal passwords make unequal keys. */
  readonly salt: string;
  /** Scrypt's N, a power of two. */
  readonly cost: number;
}

/** A new salt; 32 MiB and about a tenth of a second for each guess. */
export function newPasswordCost(): PasswordCost {
  return { salt: randomBytes(16).toString('base64'), cost: 32_768 };
}

/** A random key for {@link seal}. */
export function newKey(): Buffer {
  return randomBytes(KEY_BYTES);
}

/** In a thread of its own. @throws RangeError when `cost` is none that this program writes. */
export async function keyOfPassword(password: Secret, { salt, cost }: PasswordCost): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const options = { N: cost, r: BLOCK, p: 1, maxmem: MOST_MEMORY };
  scrypt(password.reveal(), Buffer.from(salt, 'base64'), KEY_BYTES, options, (error, key) =>
    error === null ? resolve(key) : reject(error),
  );
  return promise;
}

/** @param context what the text is for. @returns base64 of nonce, ciphertext and tag. */
export function seal(key: Uint8Array, text: string | Uint8Array, context: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(context));
  const body = Buffer.concat([cipher.update(Buffer.from(text)), cipher.final()]);
  return Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64');
}

/** @returns undefined when it was sealed with another key, for another context, or was changed. */
export function unseal(key: Uint8Array, sealed: string, context: string): Buffer | undefined {
  const bytes = Buffer.from(sealed, 'base64');
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    // OpenSSL's reasons say nothing more.
    return undefined;
  }
}
