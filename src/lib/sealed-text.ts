/**
 * A text that only one process can read, although it passes places where others read along.
 *
 *     const recipient = createRecipient();                               // its public key goes to the sender
 *     const sealed = sealText('secret', recipient.publicKey, context);   // the sender
 *     recipient.open(sealed, context)                                    // 'secret'
 *
 * X25519 with a key pair of the sender for each text, HKDF-SHA256, AES-256-GCM. It says nothing about who sent it.
 */
import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import { Secret } from './secret.ts';

/** Holds the private key, which never leaves the process. */
export interface TextRecipient {
  /** Base64 of the SubjectPublicKeyInfo. */
  readonly publicKey: string;
  /** @param context as the sender gave it. @returns undefined when it is not for this recipient and context, or was changed. */
  open(sealed: string, context: string): Secret | undefined;
}

const CIPHER = 'aes-256-gcm';
const NONCE = Buffer.alloc(12);
const TAG_BYTES = 16;

export function createRecipient(): TextRecipient {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  const own = encodeKey(publicKey);
  return {
    publicKey: own,
    open(sealed, context) {
      const [senderKey = '', body = ''] = sealed.split('.');
      try {
        const key = sharedKey(privateKey, decodeKey(senderKey), [senderKey, own]);
        const bytes = Buffer.from(body, 'base64');
        const decipher = createDecipheriv(CIPHER, key, NONCE, { authTagLength: TAG_BYTES });
        decipher.setAAD(Buffer.from(context));
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        return new Secret(
          Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]).toString(),
        );
      } catch {
        // OpenSSL's reasons say nothing more.
        return undefined;
      }
    },
  };
}

/**
 * @param recipientKey as {@link TextRecipient.publicKey}.
 * @param context what the text is for: it opens for the same alone.
 * @returns undefined when the key is none.
 */
export function sealText(text: string, recipientKey: string, context: string): string | undefined {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  const senderKey = encodeKey(publicKey);
  let key: Buffer;
  try {
    key = sharedKey(privateKey, decodeKey(recipientKey), [senderKey, recipientKey]);
  } catch {
    return undefined;
  }
  // The key serves this one text, so the nonce may be fixed.
  const cipher = createCipheriv(CIPHER, key, NONCE, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(context));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${senderKey}.${body.toString('base64')}`;
}

/** @param keys of sender and recipient: part of the key, so that neither can be exchanged. */
function sharedKey(privateKey: KeyObject, publicKey: KeyObject, keys: readonly string[]): Buffer {
  const secret = diffieHellman({ privateKey, publicKey });
  return Buffer.from(hkdfSync('sha256', secret, '', `gatehouse sealed text ${keys.join(' ')}`, 32));
}

function encodeKey(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'der' }).toString('base64');
}

/** @throws when it is no key of this kind. */
function decodeKey(text: string): KeyObject {
  const key = createPublicKey({ key: Buffer.from(text, 'base64'), type: 'spki', format: 'der' });
  if (key.asymmetricKeyType !== 'x25519') throw new Error('not an X25519 key');
  return key;
}
