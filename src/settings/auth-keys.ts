/**
 * The keys of `[auth NAME]`, read and checked when a web starts: a bad file is reported with its place in the settings, not as
 * tokens that fail later.
 */
import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { showOptionProblem } from '../lib/option-reader.ts';
import type { AuthSettings, FileSetting } from './settings.ts';

/** An `[auth NAME]` section with its key, ready to verify tokens. */
export interface AuthRealm {
  readonly settings: AuthSettings;
  readonly key: RealmKey;
}

/** What verifies the tokens of a realm. */
type RealmKey =
  /** For HS256 it also signs. */
  | { readonly kind: 'key'; readonly key: KeyObject }
  /** The issuer has them. @property keysUrl undefined: at the address that its discovery document names. */
  | { readonly kind: 'of-issuer'; readonly keysUrl: string | undefined };

/** `invalid`: at least one section has no usable key; none of the realms may be used. */
export type AuthKeys =
  | { readonly kind: 'keys'; readonly realms: readonly AuthRealm[] }
  /** Each is one line for the operator. */
  | { readonly kind: 'invalid'; readonly errors: readonly string[] };

/** Shorter RSA keys are refused by RS256 (RFC 7518). */
const SHORTEST_RSA = 2048;

/**
 * Reads every key file; keys of issuers are read with the first token. An RSA key must have 2048 bits or more; a secret was checked when the section was read.
 *
 * @returns the realms in the order of `sections`, or all errors. A bad file is never thrown.
 */
export function readAuthKeys(sections: readonly AuthSettings[]): AuthKeys {
  const realms: AuthRealm[] = [];
  const errors: string[] = [];
  for (const settings of sections) {
    const key = readKey(settings);
    if (typeof key === 'string') errors.push(key);
    else realms.push({ settings, key });
  }
  return errors.length === 0 ? { kind: 'keys', realms } : { kind: 'invalid', errors };
}

/** @returns the error, ready to print, when there is no key. */
function readKey({ name, key }: AuthSettings): RealmKey | string {
  switch (key.kind) {
    case 'HS256':
      return { kind: 'key', key: createSecretKey(Buffer.from(key.secret.reveal())) };
    case 'RS256': {
      const read = readPublicKey(name, key.file);
      return typeof read === 'string' ? read : { kind: 'key', key: read };
    }
    case 'RS256withJWKS':
    case 'OpenIDConnect':
      return { kind: 'of-issuer', keysUrl: key.keysUrl };
  }
}

function readPublicKey(name: string, { path, at }: FileSetting): KeyObject | string {
  const refuse = (reason: string) =>
    showOptionProblem({ at, section: `auth ${name}`, option: 'public_key', reason: `${path} ${reason}` });
  let pem: Buffer;
  try {
    pem = readFileSync(path);
  } catch (error) {
    return refuse(`cannot be read (${reasonOf(error)})`);
  }
  let read: KeyObject;
  try {
    read = createPublicKey(pem);
  } catch (error) {
    return refuse(`is no public key in PEM form (${reasonOf(error)})`);
  }
  if (read.asymmetricKeyType !== 'rsa') return refuse('is no RSA key');
  const bits = read.asymmetricKeyDetails?.modulusLength ?? 0;
  return bits < SHORTEST_RSA ? refuse(`has ${bits} bits; RS256 wants ${SHORTEST_RSA} or more`) : read;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && error.code === 'ENOENT' ? 'there is no such file' : error.message;
}
