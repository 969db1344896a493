/**
 * Whether the secrets of a configuration can be decrypted, so that a mistake is a configuration error with its place and not the
 * failure of a job. What is decrypted is dropped at once; a verdict is remembered for the key it was made with.
 *
 * Only what the ciphertext itself says is an error. A key that is damaged in the store is the installation's fault: executors report it.
 */
import { isUtf8 } from 'node:buffer';
import type { OaepOpener } from '../../lib/pkcs1-oaep.ts';
import type { ConfigError } from '../../model/config-error.ts';
import type { EncryptedValue } from '../../model/job.ts';
import type { ProjectKey } from '../../model/project.ts';
import type { PlacedSecret } from '../../model/secret.ts';
import { KeyDamaged } from '../../store/keystore/keystore.ts';

/** The keys that decrypt secrets, as {@link import('../../store/keystore/keystore.ts').Keystore} has them. */
export interface SecretKeys {
  opener(project: ProjectKey): Promise<OaepOpener | undefined>;
}

/** Remembers verdicts: one for all tenants of a scheduler, or one for each. */
export interface SecretCheck {
  /**
   * @param budget chunks that may be decrypted, for what people propose; each takes some milliseconds of a thread.
   * @returns the errors of those that cannot be decrypted. @throws StoreError when the session is over.
   */
  unusable(secrets: readonly PlacedSecret[], budget?: number): Promise<readonly ConfigError[]>;
}

/** Of one key. */
const MOST_VERDICTS = 10_000;

/** @param keys undefined: the installation has no keystore. */
export function createSecretCheck(keys: SecretKeys | undefined): SecretCheck {
  const verdicts = new WeakMap<OaepOpener, Map<string, boolean>>();

  async function isUsable({ sha256, secret }: PlacedSecret, opener: OaepOpener): Promise<boolean> {
    const known = verdicts.get(opener) ?? new Map<string, boolean>();
    verdicts.set(opener, known);
    const verdict = known.get(sha256) ?? (await opens(secret.encrypted, opener));
    if (known.size >= MOST_VERDICTS) known.clear();
    known.set(sha256, verdict);
    return verdict;
  }

  async function openerOf({ secret }: PlacedSecret): Promise<OaepOpener | 'none' | 'damaged'> {
    try {
      return (await keys?.opener(secret.project)) ?? 'none';
    } catch (error) {
      if (error instanceof KeyDamaged) return 'damaged';
      throw error;
    }
  }

  return {
    async unusable(secrets, budget = Number.POSITIVE_INFINITY) {
      const errors: ConfigError[] = [];
      let left = budget;
      for (const placed of secrets) {
        const { secret, unusable } = placed;
        if (secret.encrypted.length === 0) continue;
        const opener = await openerOf(placed);
        if (opener === 'damaged') continue;
        if (opener === 'none') {
          errors.push(withoutKey(placed, keys === undefined));
          continue;
        }
        const isKnown = verdicts.get(opener)?.has(placed.sha256) === true;
        if (!isKnown) left -= secret.encrypted.reduce((sum, { chunks }) => sum + chunks.length, 0);
        if (left < 0) {
          const text = `more than ${budget} encrypted chunks are new at once, which is too costly to check; propose fewer secrets`;
          return [...errors, { ...unusable, code: 'too-costly', text }];
        }
        if (!(await isUsable(placed, opener))) errors.push(unusable);
      }
      return errors;
    },
  };
}

function withoutKey({ secret: { name }, unusable }: PlacedSecret, noKeystore: boolean): ConfigError {
  if (!noKeystore)
    return {
      ...unusable,
      text: `${unusable.text} (the project has no key yet: nothing was encrypted for it here)`,
    };
  const text = `secret ${name} is encrypted, and this installation has no keys: its operator has to set [keystore] password`;
  return { ...unusable, code: 'no-keystore', text };
}

async function opens(encrypted: readonly EncryptedValue[], opener: OaepOpener): Promise<boolean> {
  for (const { chunks } of encrypted) {
    const bytes = await opener(chunks);
    if (bytes === undefined) return false;
    const isText = isUtf8(bytes);
    bytes.fill(0);
    if (!isText) return false;
  }
  return true;
}
