/**
 * RSA keys in the forms that Zuul and ssh have for them.
 *
 *     const { publicKey, privateKey } = await generateRsaKey(4096);
 *     publicKey                                    // -----BEGIN PUBLIC KEY-----  (SubjectPublicKeyInfo)
 *     sshPublicKey(privateKey)                     // ssh-rsa AAAAB3Nza…
 *     lockedPem(privateKey, password)              // -----BEGIN RSA PRIVATE KEY-----, Proc-Type: 4,ENCRYPTED
 */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import type { Secret } from './secret.ts';

/** A private key with its public one as PEM. */
export interface RsaKey {
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

/** Takes seconds for 4096 bits, in a thread of its own. */
export async function generateRsaKey(bits: number): Promise<RsaKey> {
  const { promise, resolve, reject } = Promise.withResolvers<RsaKey>();
  generateKeyPair('rsa', { modulusLength: bits }, (error, _publicKey, privateKey) =>
    error === null ? resolve(rsaKey(privateKey)) : reject(error),
  );
  return promise;
}

function rsaKey(privateKey: KeyObject): RsaKey {
  return {
    privateKey,
    publicKey: createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString(),
  };
}

/** The key in a PEM with or without a password. @returns undefined when it is no RSA key, or the password is another one. */
export function rsaKeyOf(pem: string | Buffer, password?: Secret): RsaKey | undefined {
  try {
    const key = createPrivateKey({
      key: pem,
      format: 'pem',
      ...(password === undefined ? {} : { passphrase: password.reveal() }),
    });
    return key.asymmetricKeyType === 'rsa' ? rsaKey(key) : undefined;
  } catch {
    // OpenSSL's reasons are the same for a wrong password and a damaged key.
    return undefined;
  }
}

/** PKCS#8 as PEM, without a password: for {@link import('./password-seal.ts').seal}. */
export function plainPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** As Zuul keeps its keys: PKCS#1 as PEM, encrypted by OpenSSL's traditional scheme with AES-256-CBC. */
export function lockedPem(key: KeyObject, password: Secret): string {
  return key
    .export({ type: 'pkcs1', format: 'pem', cipher: 'aes-256-cbc', passphrase: password.reveal() })
    .toString();
}

/** One line as in `authorized_keys`, without a comment. */
export function sshPublicKey(key: KeyObject): string {
  const { e = '', n = '' } = createPublicKey(key).export({ format: 'jwk' });
  const fields = [Buffer.from('ssh-rsa'), mpint(e), mpint(n)];
  const blob = Buffer.concat(
    fields.flatMap(field => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(field.length);
      return [length, field];
    }),
  );
  return `ssh-rsa ${blob.toString('base64')}`;
}

/** A positive number: a byte 0 keeps its first bit from being a sign. */
function mpint(base64url: string): Buffer {
  const bytes = Buffer.from(base64url, 'base64url');
  return (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes;
}
