/** `[keystore]`: with what the keys of projects are sealed in the store. Zuul's section. */
import type { OptionReader } from '../lib/option-reader.ts';
import type { Secret } from '../lib/secret.ts';

/** The same in all processes of an installation but mergers, which need none. */
export interface KeystoreSettings {
  readonly password: Secret;
}

/** Undefined without a password: projects have no keys then, and encrypted secrets are configuration errors. */
export function readKeystore(read: OptionReader): KeystoreSettings | undefined {
  const password = read.secret('password');
  return password === undefined ? undefined : { password };
}
