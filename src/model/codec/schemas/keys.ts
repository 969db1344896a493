/** Keys of projects. */
import type { KeystoreRecord, ProjectKeys, StoredKey } from '../../keystore.ts';
import { object, optional, text, whole } from '../schema.ts';

/** {@link KeystoreRecord}, the record `keystore`. */
export const keystoreSchema = object<KeystoreRecord>({ salt: text, cost: whole, masterKey: text });

const storedKey = object<StoredKey>({ version: whole, created: whole, publicKey: text, privateKey: text });

/** {@link ProjectKeys}, the record `project-keys`. */
export const projectKeysSchema = object<ProjectKeys>({
  secrets: optional(storedKey),
  ssh: optional(storedKey),
});
