/**
 * The part of the ssh-agent protocol (draft-miller-ssh-agent) that an agent with fixed keys speaks: it lists them and signs with them.
 * Every other request, extensions among them, is answered with a failure, as the protocol has it.
 *
 *     uint32 length · byte type · content            in both directions; text and bytes: uint32 length · bytes
 */
import { type KeyObject, sign } from 'node:crypto';
import type { PrivateKey } from '../../nodes/host-session.ts';

/** `blob`: the public key as ssh writes it. */
export interface AgentKey {
  readonly blob: Buffer;
  /** Shown by `ssh-add -l`. */
  readonly comment: string;
  /** @param flags of the request: in which way an RSA key is to sign. */
  sign(data: Buffer, flags: number): Promise<KeySignature>;
}

/** `algorithm`: its name in ssh. */
interface KeySignature {
  readonly algorithm: string;
  readonly signature: Buffer;
}

/** Signs in another thread: a job may ask for many. */
export function rsaAgentKey(privateKey: KeyObject, blob: Buffer, comment: string): AgentKey {
  return {
    blob,
    comment,
    async sign(data, flags) {
      const { algorithm, hash } = HASHES.find(({ bit }) => (flags & bit) === bit) ?? HASHES[2];
      return { algorithm, signature: await signatureOf(hash, data, privateKey) };
    },
  };
}

/** A key for the hosts of a build, ed25519 or RSA. */
export function hostAgentKey({ key, type, blob }: PrivateKey, comment: string): AgentKey {
  if (type === 'ssh-rsa') return rsaAgentKey(key, blob, comment);
  const sign = async (data: Buffer) => ({ algorithm: type, signature: await signatureOf(null, data, key) });
  return { blob, comment, sign };
}

/** Bytes of a request; OpenSSH's agent takes as many. */
const MOST_BYTES = 256 * 1024;

const FAILURE = 5;
const LIST = 11;
const LISTED = 12;
const SIGN = 13;
const SIGNED = 14;

/** By bit of the flags of a request; none: the signature of old servers. */
const HASHES = [
  { bit: 4, algorithm: 'rsa-sha2-512', hash: 'sha512' },
  { bit: 2, algorithm: 'rsa-sha2-256', hash: 'sha256' },
  { bit: 0, algorithm: 'ssh-rsa', hash: 'sha1' },
] as const;

/** The first whole request of what came in, without its length. `broken`: the other side speaks something else, or too much at once. */
export type TakenRequest =
  | { readonly kind: 'request'; readonly request: Buffer; readonly rest: Buffer }
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'broken' };

export function takeRequest(input: Buffer): TakenRequest {
  if (input.length < 4) return { kind: 'incomplete' };
  const length = input.readUInt32BE(0);
  if (length === 0 || length > MOST_BYTES) return { kind: 'broken' };
  if (input.length < 4 + length) return { kind: 'incomplete' };
  return { kind: 'request', request: input.subarray(4, 4 + length), rest: input.subarray(4 + length) };
}

/** @returns the whole answer. */
export async function answerRequest(request: Buffer, keys: readonly AgentKey[]): Promise<Buffer> {
  switch (request[0]) {
    case LIST: {
      const listed = keys.flatMap(({ blob, comment }) => [text(blob), text(comment)]);
      return framed(Buffer.concat([Buffer.from([LISTED]), whole(keys.length), ...listed]));
    }
    case SIGN:
      return (await signed(request.subarray(1), keys)) ?? framed(Buffer.from([FAILURE]));
    default:
      return framed(Buffer.from([FAILURE]));
  }
}

/** Undefined: the request is broken, or about another key. */
async function signed(content: Buffer, keys: readonly AgentKey[]): Promise<Buffer | undefined> {
  const wanted = readText(content);
  const data = wanted && readText(wanted.rest);
  if (wanted === undefined || data === undefined || data.rest.length < 4) return undefined;
  const key = keys.find(({ blob }) => wanted.bytes.equals(blob));
  if (key === undefined) return undefined;
  const { algorithm, signature } = await key.sign(data.bytes, data.rest.readUInt32BE(0));
  return framed(
    Buffer.concat([Buffer.from([SIGNED]), text(Buffer.concat([text(algorithm), text(signature)]))]),
  );
}

/** @param hash null: that of the key's own kind. */
async function signatureOf(hash: string | null, data: Buffer, key: KeyObject): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  sign(hash, data, key, (error, made) => (error === null ? resolve(made) : reject(error)));
  return promise;
}

function readText(from: Buffer): { readonly bytes: Buffer; readonly rest: Buffer } | undefined {
  if (from.length < 4) return undefined;
  const end = 4 + from.readUInt32BE(0);
  return end > from.length ? undefined : { bytes: from.subarray(4, end), rest: from.subarray(end) };
}

function framed(message: Buffer): Buffer {
  return Buffer.concat([whole(message.length), message]);
}

function text(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([whole(bytes.length), bytes]);
}

function whole(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
