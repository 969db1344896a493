/**
 * Values for the secrets of a job. A run opens none: their key is the service's. So a file gives the value of each that the job's
 * playbooks get, by the name of the secret:
 *
 *     deploy: {token: only-for-tests, user: eve}
 *
 * Only what is encrypted in the configuration is taken from it.
 */
import { readFile } from 'node:fs/promises';
import type { ProjectKeysForSecrets } from '../../executor/playbook-secrets.ts';
import { parseYaml } from '../../layout/yaml/yaml.ts';
import { jsonOf } from '../../layout/yaml/yaml-node.ts';
import type { FrozenSecret, Json, SecretsByHash } from '../../model/job.ts';
import { type Refused, refused } from '../commands/refused.ts';

/** What the request of the build gets, and what reads it. */
export interface GivenSecrets {
  readonly kind: 'given';
  readonly secrets: SecretsByHash;
  readonly keys: ProjectKeysForSecrets;
}

/** @param file undefined: none was named. @returns what is missing. */
export async function fillSecrets(
  wanted: SecretsByHash,
  file: string | undefined,
): Promise<GivenSecrets | Refused> {
  const values = file === undefined ? undefined : await valuesIn(file);
  if (isRefused(values)) return values;
  const secrets: [string, FrozenSecret][] = [];
  for (const [sha256, secret] of Object.entries(wanted)) {
    const filled = fill(secret, values?.[secret.name], file);
    if (isRefused(filled)) return filled;
    secrets.push([sha256, filled]);
  }
  return { kind: 'given', secrets: Object.fromEntries(secrets), keys: NO_CIPHER };
}

/** The chunks of a secret that was filled are its text as it is: what masks secrets in logs sees it like any other. */
const NO_CIPHER: ProjectKeysForSecrets = { opener: async () => async chunks => Buffer.from(chunks.join('')) };

function fill(
  secret: FrozenSecret,
  given: Json | undefined,
  file: string | undefined,
): FrozenSecret | Refused {
  const { name, encrypted } = secret;
  if (encrypted.length > 0 && given === undefined)
    return refused(
      `the job gets secret ${name}, which only the service can decrypt; ${file === undefined ? 'give a value for it with --secrets FILE' : `${file} has no value for it`}`,
    );
  const chunks: { at: FrozenSecret['encrypted'][number]['at']; chunks: string[] }[] = [];
  for (const { at } of encrypted) {
    const value = at.reduce<Json | undefined>(below, given);
    if (typeof value !== 'string')
      return refused(`${file} has no text for ${[name, ...at].join('.')}, a value of secret ${name}`);
    chunks.push({ at, chunks: [value] });
  }
  return { ...secret, encrypted: chunks };
}

function below(value: Json | undefined, key: string | number): Json | undefined {
  if (value === null || typeof value !== 'object') return undefined;
  return Object.entries(value).find(([name]) => name === String(key))?.[1];
}

async function valuesIn(file: string): Promise<{ readonly [name: string]: Json } | Refused> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    return refused(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = parseYaml(text);
  if (parsed.kind === 'invalid') return refused(`${file}:${parsed.line}: ${parsed.text}`);
  const value = parsed.root === undefined ? {} : jsonOf(parsed.root);
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    return refused(`${file} is no mapping of names of secrets to their values`);
  return Object.fromEntries(Object.entries(value));
}

function isRefused(value: unknown): value is Refused {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'refused';
}
