/**
 * Zuul's file of keys, as `zuul-admin export-keys` writes it and `import-keys` reads it, both ways.
 *
 *     {"keys": {"/keystorage/github/acme/acme%2Fapp/secrets": {"schema": 1, "keys": [
 *       {"version": 0, "created": 1700000000, "private_key": "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED…"}]}}}
 *
 * Private keys in it are protected by the password of the keystore, with OpenSSL's traditional scheme: one round of MD5 makes the
 * key of the password. Only a long password protects such a file.
 */
import { lockedPem, rsaKeyOf } from '../../lib/rsa-keys.ts';
import type { Secret } from '../../lib/secret.ts';
import type { KeyUse } from '../../model/keystore.ts';
import { type ProjectKey, projectIdOf, projectKey } from '../../model/project.ts';
import type { OpenedKeys } from './keystore.ts';

/** The keys of one project of the file. */
export interface ProjectKeysOfZuul {
  readonly project: ProjectKey;
  readonly keys: OpenedKeys;
}

/** `invalid`: one line, with the place in the file. */
export type ReadZuulKeys =
  | { readonly kind: 'keys'; readonly projects: readonly ProjectKeysOfZuul[] }
  | { readonly kind: 'invalid'; readonly text: string };

/** @param password of the keystore: Zuul opens the file with the same one only. */
export function zuulKeysText(projects: readonly ProjectKeysOfZuul[], password: Secret): string {
  const entries = projects.flatMap(({ project, keys }) =>
    (['secrets', 'ssh'] as const).flatMap(use => {
      const found = keys[use];
      if (found === undefined) return [];
      const { version, created, key } = found;
      const stored = { version, created, private_key: lockedPem(key, password) };
      return [[pathOf(project, use), { schema: 1, keys: [stored] }] as const];
    }),
  );
  return JSON.stringify({ keys: Object.fromEntries(entries) });
}

/** @param password with which the file was written. */
export function readZuulKeys(text: string, password: Secret): ReadZuulKeys {
  const file = entriesOf(text);
  if (file === undefined)
    return { kind: 'invalid', text: 'is not a file of keys: JSON with an object "keys" is wanted' };
  const projects = new Map<ProjectKey, OpenedKeys>();
  for (const [path, value] of file) {
    const place = placeOf(path);
    if (place === undefined) return invalid(path, 'is not /keystorage/<connection>/<prefix>/<project>/<use>');
    const stored = firstKeyOf(value);
    if (stored === undefined) return invalid(path, 'has no key of schema 1');
    const opened = rsaKeyOf(stored.pem, password);
    if (opened === undefined)
      return invalid(path, 'holds a key that the password does not open, or that is no RSA key');
    const { version, created } = stored;
    const { project, use } = place;
    projects.set(project, { ...projects.get(project), [use]: { key: opened.privateKey, version, created } });
  }
  return { kind: 'keys', projects: [...projects].map(([project, keys]) => ({ project, keys })) };
}

function invalid(path: string, reason: string): ReadZuulKeys {
  return { kind: 'invalid', text: `${JSON.stringify(path)} ${reason}` };
}

function pathOf(project: ProjectKey, use: KeyUse): string {
  const { connection, name } = projectIdOf(project);
  return `/keystorage/${connection}/${name.split('/', 1)[0]}/${quotePlus(name)}/${use}`;
}

function placeOf(path: string): { readonly project: ProjectKey; readonly use: KeyUse } | undefined {
  const [, connection, quoted = '', use] =
    /^\/keystorage\/([^/]+)\/[^/]+\/([^/]+)\/(secrets|ssh)$/.exec(path) ?? [];
  if (connection === undefined || (use !== 'secrets' && use !== 'ssh')) return undefined;
  try {
    const name = decodeURIComponent(quoted.replaceAll('+', ' '));
    return { project: projectKey({ connection, name }), use };
  } catch {
    return undefined;
  }
}

/** As Python's `quote_plus`. */
function quotePlus(text: string): string {
  return encodeURIComponent(text)
    .replace(/[!'()*]/g, found => `%${found.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
}

function entriesOf(text: string): readonly (readonly [string, unknown])[] | undefined {
  try {
    const file: unknown = JSON.parse(text);
    return isObject(file) && isObject(file.keys) ? Object.entries(file.keys) : undefined;
  } catch {
    return undefined;
  }
}

interface KeyOfZuul {
  readonly pem: string;
  readonly version: number;
  readonly created: number;
}

/** The first one is the one that Zuul uses. */
function firstKeyOf(value: unknown): KeyOfZuul | undefined {
  if (!isObject(value) || value.schema !== 1 || !Array.isArray(value.keys)) return undefined;
  const first: unknown = value.keys[0];
  if (!isObject(first)) return undefined;
  const { private_key: pem, version, created } = first;
  if (typeof pem !== 'string' || !isCount(version) || !isCount(created)) return undefined;
  return { pem, version, created };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
