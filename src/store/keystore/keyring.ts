/**
 * The password of the keystore, and the master key that it opens: once per process, however many sessions follow.
 *
 *     const keyring = createKeyring(settings.keystore.password);
 *     const keystore = await keyring.open(store, paths, clock);     // each session; @throws KeystoreLocked
 */
import type { Clock } from '../../lib/clock.ts';
import { keyOfPassword, newKey, newPasswordCost, seal, unseal } from '../../lib/password-seal.ts';
import type { Secret } from '../../lib/secret.ts';
import { keystoreCodec } from '../../model/codec/records.ts';
import type { KeystoreRecord } from '../../model/keystore.ts';
import { isConnectionLoss, settle } from '../connection.ts';
import { ensureNode } from '../ensure-node.ts';
import type { StorePaths } from '../paths.ts';
import { create, remove, type Store, StoreError } from '../port.ts';
import { createKeystore, type Keystore } from './keystore.ts';
import { KeystoreLocked } from './keystore-locked.ts';

/** Opens keystores with one password. */
export interface Keyring {
  /**
   * Creates the keystore where there is none. @throws KeystoreLocked when the password is another one; StoreError `SessionExpired`.
   */
  open(store: Store, paths: StorePaths, clock: Pick<Clock, 'now'>): Promise<Keystore>;
}

const MASTER = 'gatehouse keystore master key';

/** Asks nothing yet. */
export function createKeyring(password: Secret): Keyring {
  let known: { readonly record: KeystoreRecord; readonly masterKey: Buffer } | undefined;

  async function unlock(record: KeystoreRecord): Promise<Buffer> {
    if (known?.record.masterKey === record.masterKey) return known.masterKey;
    const masterKey = unseal(await keyOfPassword(password, record), record.masterKey, MASTER);
    if (masterKey === undefined)
      throw new KeystoreLocked(
        '[keystore] password is not the one that the keys of projects in the store are sealed with; set the right one. If it is lost, so are the keys: stop the service, run "gatehouse delete-keystore --yes", and encrypt every secret anew',
      );
    known = { record, masterKey };
    return masterKey;
  }

  async function unlocked(store: Store, paths: StorePaths): Promise<Buffer> {
    await ensureNode(store, paths.keys);
    for (;;) {
      const node = await settle(store, () => store.get(paths.keystore));
      if (node !== undefined) {
        const record = keystoreCodec.decode(node.data);
        return unlock(record);
      }
      const record = await sealed(newKey(), password);
      try {
        await store.multi([create(paths.keystore, keystoreCodec.encode(record))]);
      } catch (error) {
        // Another process was first, or the answer was lost: the stored one counts.
        if (!isConnectionLoss(error) && !(error instanceof StoreError && error.code === 'NodeExists'))
          throw error;
      }
    }
  }

  return {
    async open(store, paths, clock) {
      const masterKey = await unlocked(store, paths);
      return createKeystore({ store, paths, clock, masterKey });
    },
  };
}

/** All keys, and with what they were sealed. No process may use them meanwhile. @returns how many projects had keys. */
export async function deleteKeystore(store: Store, paths: StorePaths): Promise<number> {
  let projects = 0;
  for (const connection of (await settle(store, () => store.children(paths.keys))) ?? []) {
    const base = `${paths.keys}/${connection}`;
    for (const project of (await settle(store, () => store.children(base))) ?? []) {
      await store.multi([remove(`${base}/${project}`)]);
      projects += 1;
    }
  }
  if ((await settle(store, () => store.get(paths.keystore))) !== undefined)
    await store.multi([remove(paths.keystore)]);
  return projects;
}

async function sealed(masterKey: Buffer, password: Secret): Promise<KeystoreRecord> {
  const cost = newPasswordCost();
  return { ...cost, masterKey: seal(await keyOfPassword(password, cost), masterKey, MASTER) };
}
