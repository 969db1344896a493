/**
 * Decrypts what one playbook gets, right before it starts.
 *
 *     const masks = buildMasks();                                            // one for each build
 *     const opened = await openSecrets(request, playbook, keys, masks);
 *     if (opened.kind === 'opened') opened.values                            // { deploy: { token: 'hunter2' } }
 *
 * What cannot be decrypted here is the installation's fault: schedulers check each ciphertext before a job is frozen.
 */
import { isUtf8 } from 'node:buffer';
import type { OaepOpener } from '../lib/pkcs1-oaep.ts';
import { maskedDeep, secretMasks } from '../lib/secret-masks.ts';
import type { BuildPlaybook, BuildRequest } from '../model/build-request.ts';
import type { FrozenSecret, Json } from '../model/job.ts';
import type { ProjectKey } from '../model/project.ts';
import { withValues } from '../model/secret.ts';

/** The keys of projects, as {@link import('../store/keystore/keystore.ts').Keystore} has them. */
export interface ProjectKeysForSecrets {
  opener(project: ProjectKey): Promise<OaepOpener | undefined>;
}

/** Undefined values: the playbook gets no secret. */
export type OpenedSecrets =
  | { readonly kind: 'opened'; readonly values: { readonly [name: string]: Json } | undefined }
  /** For people; the build is tried again. */
  | { readonly kind: 'unavailable'; readonly reason: string };

/** What must not appear in anything that a build leaves behind. */
export interface BuildMasks {
  add(secrets: readonly string[]): void;
  /** Single lines, the longest first. */
  list(): readonly string[];
  /** All texts of a value of JSON. */
  mask<T>(value: T): T;
}

/** Empty until a playbook of the build gets a secret. */
export function buildMasks(): BuildMasks {
  let known: readonly string[] = [];
  let masks: readonly string[] = [];
  return {
    add(secrets) {
      if (secrets.length === 0) return;
      known = [...new Set([...known, ...secrets])];
      masks = secretMasks(known);
    },
    list: () => masks,
    mask: value => maskedDeep(value, masks),
  };
}

/** @param keys undefined: this executor has no `[keystore] password`. */
export async function openSecrets(
  request: Pick<BuildRequest, 'secrets'>,
  { secrets = [] }: Pick<BuildPlaybook, 'secrets'>,
  keys: ProjectKeysForSecrets | undefined,
  masks: BuildMasks,
): Promise<OpenedSecrets> {
  const values: [string, Json][] = [];
  for (const { name, secret: sha256 } of secrets) {
    const secret = request.secrets?.[sha256];
    if (secret === undefined) throw new Error(`secret ${name} is not part of the build request`);
    const opened = await textsOf(secret, keys);
    if (opened.kind === 'unavailable') return opened;
    masks.add(opened.texts);
    values.push([name, withValues(secret, opened.texts)]);
  }
  return { kind: 'opened', values: values.length === 0 ? undefined : Object.fromEntries(values) };
}

async function textsOf(
  { name, project, encrypted }: FrozenSecret,
  keys: ProjectKeysForSecrets | undefined,
): Promise<
  | { readonly kind: 'texts'; readonly texts: readonly string[] }
  | Extract<OpenedSecrets, { kind: 'unavailable' }>
> {
  const unavailable = (why: string) =>
    ({ kind: 'unavailable', reason: `secret ${name} of ${project} cannot be decrypted: ${why}` }) as const;
  if (encrypted.length === 0) return { kind: 'texts', texts: [] };
  if (keys === undefined) return unavailable('this executor has no [keystore] password');
  let opener: OaepOpener | undefined;
  try {
    opener = await keys.opener(project);
  } catch (error) {
    return unavailable(error instanceof Error ? error.message : String(error));
  }
  if (opener === undefined) return unavailable('the project has no key');
  const texts: string[] = [];
  for (const { chunks } of encrypted) {
    const bytes = await opener(chunks);
    if (bytes === undefined || !isUtf8(bytes))
      return unavailable('the key of the project is another one than when the job was frozen');
    texts.push(bytes.toString());
  }
  return { kind: 'texts', texts };
}
