/**
 * Secrets of projects: data whose encrypted values only the project's key opens. Everything here is ciphertext; executors decrypt it
 * for one playbook (`src/executor/playbook-secrets.ts`), and schedulers try whether it can be decrypted (`src/scheduler/tenant/check-secrets.ts`).
 */
import type { ConfigError } from './config-error.ts';
import type { FrozenSecret, Json, SecretData } from './job.ts';

/** A secret with its place in the configuration. */
export interface PlacedSecret {
  readonly sha256: string;
  readonly secret: FrozenSecret;
  /** The error when it cannot be decrypted with the key of its project. */
  readonly unusable: ConfigError;
}

/** Decrypted values in their places. @param values in the order of `encrypted`; one for each. */
export function withValues({ plain, encrypted }: SecretData, values: readonly string[]): Json {
  const found = new Map(encrypted.map(({ at }, index) => [JSON.stringify(at), values[index] ?? null]));
  const filled = (value: Json, at: readonly (string | number)[]): Json => {
    const decrypted = found.get(JSON.stringify(at));
    if (decrypted !== undefined) return decrypted;
    if (value === null || typeof value !== 'object') return value;
    if (isList(value)) return value.map((each, index) => filled(each, [...at, index]));
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each, [...at, key])]));
  };
  return filled(plain, []);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
