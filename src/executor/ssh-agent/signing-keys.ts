/** Keys that an agent signs with, each in the ways of its kind. Signing takes place in another thread: a job may ask for much of it. */
import { type KeyObject, sign } from 'node:crypto';
import type { PrivateKey } from '../../nodes/host-session.ts';
import type { AgentKey } from './agent-keys.ts';

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

export function ed25519AgentKey(privateKey: KeyObject, blob: Buffer, comment: string): AgentKey {
  const algorithm = 'ssh-ed25519';
  return {
    blob,
    comment,
    sign: async data => ({ algorithm, signature: await signatureOf(null, data, privateKey) }),
  };
}

/** A key for the hosts of a build. */
export function hostAgentKey({ key, type, blob }: PrivateKey, comment: string): AgentKey {
  return type === 'ssh-rsa' ? rsaAgentKey(key, blob, comment) : ed25519AgentKey(key, blob, comment);
}

/** By bit of the flags of a request; none: the signature of old servers. */
const HASHES = [
  { bit: 4, algorithm: 'rsa-sha2-512', hash: 'sha512' },
  { bit: 2, algorithm: 'rsa-sha2-256', hash: 'sha256' },
  { bit: 0, algorithm: 'ssh-rsa', hash: 'sha1' },
] as const;

/** @param hash null: that of the key's own kind. */
async function signatureOf(hash: string | null, data: Buffer, key: KeyObject): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  sign(hash, data, key, (error, made) => (error === null ? resolve(made) : reject(error)));
  return promise;
}
