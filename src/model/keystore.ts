/** The keys of projects as they are stored: private ones sealed, so that only processes with `[keystore] password` can use them. */

/**
 * How the keys of projects are sealed: with a master key that is random, and itself sealed with a key made of the password. Another
 * password is another record, and no key of a project changes. Stored as the record `keystore`.
 */
export interface KeystoreRecord {
  /** Base64, for scrypt. */
  readonly salt: string;
  /** Scrypt's N. */
  readonly cost: number;
  /** See `src/lib/password-seal.ts`. */
  readonly masterKey: string;
}

/** One key pair. */
export interface StoredKey {
  /** Zuul's number of the key; always 0 so far. */
  readonly version: number;
  /** Seconds since 1970. */
  readonly created: number;
  /** PEM of the secrets key; one line of an ssh key. */
  readonly publicKey: string;
  /** PKCS#8, sealed with the master key for its project and use. */
  readonly privateKey: string;
}

/** What a key is for: `secrets` decrypts the project's secrets, `ssh` is for its jobs. */
export type KeyUse = 'secrets' | 'ssh';

/** The keys of one project. Stored as the record `project-keys`; only import and deletion change it. */
export type ProjectKeys = { readonly [use in KeyUse]?: StoredKey };
