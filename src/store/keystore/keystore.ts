/**
 * The keys of projects in the store, one node for each project: `keys/<connection>/<project>`.
 *
 *     const keystore = await keyring.open(store, paths, clock);
 *     await keystore.publicKeys(project)              // made when they are first asked for; the first to store them wins
 *     await keystore.opener(project)                  // decrypts the project's secrets; undefined: it has no key
 *
 * Private keys are in memory only while they are used: sealed in the store, in its copies and in the keys of the commands.
 */
import type { KeyObject } from 'node:crypto';
import { type Clock, toMilliseconds } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import { seal, unseal } from '../../lib/password-seal.ts';
import { createOaepOpener, type OaepOpener } from '../../lib/pkcs1-oaep.ts';
import { generateRsaKey, plainPem, type RsaKey, rsaKeyOf, sshPublicKey } from '../../lib/rsa-keys.ts';
import { projectKeysCodec } from '../../model/codec/records.ts';
import type { KeyUse, ProjectKeys, StoredKey } from '../../model/keystore.ts';
import { type ProjectKey, projectIdOf, projectKey } from '../../model/project.ts';
import { isConnectionLoss, settle, withRetry } from '../connection.ts';
import { ensureNode } from '../ensure-node.ts';
import { nameOfNode, type StorePaths } from '../paths.ts';
import { create, type Operation, remove, type Store, StoreError, set } from '../port.ts';

/** The public keys of a project. */
export interface PublicKeys {
  /** PEM. */
  readonly secrets: string;
  /** One line as in `authorized_keys`. */
  readonly ssh: string;
}

/** The private keys of a project, for a moment. */
export type OpenedKeys = {
  readonly [use in KeyUse]?: { readonly key: KeyObject; readonly version: number; readonly created: number };
};

/** Of one session with the store; made by `keyring.ts`. */
export interface Keystore {
  /**
   * Makes the keys that the project lacks, which takes seconds. `busy`: too many projects wait for theirs.
   *
   * @throws StoreError `SessionExpired` when the session ends meanwhile.
   */
  publicKeys(project: ProjectKey): Promise<PublicKeys | 'busy'>;
  /** Undefined: the project has no key, so nothing is encrypted for it. @throws KeyDamaged, StoreError `SessionExpired` */
  opener(project: ProjectKey): Promise<OaepOpener | undefined>;
  /** Seals data that a build returned for builds that depend on it. */
  sealData(build: Uuid, text: string): string;
  /** Undefined: it was sealed elsewhere, or for another build. */
  openData(build: Uuid, sealed: string): string | undefined;
  /** Undefined: it has none. @throws KeyDamaged */
  read(project: ProjectKey): Promise<OpenedKeys | undefined>;
  /** Adds keys. @param overwrite whether existing ones are replaced. @returns the uses that were written. */
  write(project: ProjectKey, keys: OpenedKeys, overwrite: boolean): Promise<readonly KeyUse[]>;
  /** @returns false: it had none. */
  remove(project: ProjectKey): Promise<boolean>;
  /** All projects with keys, sorted. */
  projects(): Promise<readonly ProjectKey[]>;
}

/** A key in the store cannot be opened with the master key: the node was changed by hand, or moved. */
export class KeyDamaged extends Error {
  override readonly name = 'KeyDamaged';
}

/** `masterKey` opens every key. */
export interface KeystoreDeps {
  readonly store: Store;
  readonly paths: StorePaths;
  readonly clock: Pick<Clock, 'now'>;
  readonly masterKey: Uint8Array;
  /** Of new secrets keys. Default 4096, as Zuul. Tests have no time for it. */
  readonly secretsBits?: number;
}

const SECRETS_BITS = 4096;
const SSH_BITS = 2048;
/** Projects that wait for their keys; each takes some seconds of a processor. */
const MOST_WAITING = 16;
/** Opened keys kept: a decryption needs no other thread then. */
const MOST_OPENERS = 256;
const USES = ['secrets', 'ssh'] as const satisfies readonly KeyUse[];

/** @param deps.masterKey see `keyring.ts`. */
export function createKeystore(deps: KeystoreDeps): Keystore {
  return new StoredKeystore(deps);
}

class StoredKeystore implements Keystore {
  readonly #deps: KeystoreDeps;
  readonly #making = new Map<ProjectKey, Promise<PublicKeys>>();
  /** By the sealed key, so that an imported key takes effect at once. */
  readonly #openers = new Map<string, OaepOpener>();
  /** One generation at a time: it takes a processor. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: KeystoreDeps) {
    this.#deps = deps;
  }

  async publicKeys(project: ProjectKey): Promise<PublicKeys | 'busy'> {
    const stored = await this.#stored(project);
    const ready = publicKeysIn(stored?.keys);
    if (ready !== undefined) return ready;
    const making = this.#making.get(project);
    if (making !== undefined) return making;
    if (this.#making.size >= MOST_WAITING) return 'busy';
    const made = this.#last.then(() => this.#make(project)).finally(() => this.#making.delete(project));
    this.#making.set(project, made);
    this.#last = made.catch(() => undefined);
    return made;
  }

  async opener(project: ProjectKey): Promise<OaepOpener | undefined> {
    const sealed = (await this.#stored(project))?.keys.secrets?.privateKey;
    if (sealed === undefined) return undefined;
    const known = this.#openers.get(sealed);
    if (known !== undefined) return known;
    const opener = createOaepOpener(this.#unsealed(project, 'secrets', sealed));
    this.#openers.set(sealed, opener);
    for (const oldest of this.#openers.keys()) {
      if (this.#openers.size <= MOST_OPENERS) break;
      this.#openers.delete(oldest);
    }
    return opener;
  }

  sealData(build: Uuid, text: string): string {
    return seal(this.#deps.masterKey, text, contextOfData(build));
  }

  openData(build: Uuid, sealed: string): string | undefined {
    return unseal(this.#deps.masterKey, sealed, contextOfData(build))?.toString();
  }

  async read(project: ProjectKey): Promise<OpenedKeys | undefined> {
    const stored = await this.#stored(project);
    if (stored === undefined) return undefined;
    return Object.fromEntries(
      USES.flatMap(use => {
        const found = stored.keys[use];
        if (found === undefined) return [];
        const { version, created, privateKey } = found;
        return [[use, { key: this.#unsealed(project, use, privateKey), version, created }]];
      }),
    );
  }

  async write(project: ProjectKey, keys: OpenedKeys, overwrite: boolean): Promise<readonly KeyUse[]> {
    let written: readonly KeyUse[] = [];
    await this.#change(project, before => {
      written = USES.filter(use => keys[use] !== undefined && (overwrite || before[use] === undefined));
      const added = written.flatMap(use => {
        const given = keys[use];
        return given === undefined ? [] : [[use, this.#sealedKey(project, use, given)]];
      });
      return added.length === 0 ? undefined : { ...before, ...Object.fromEntries(added) };
    });
    return written;
  }

  async remove(project: ProjectKey): Promise<boolean> {
    const { store, paths } = this.#deps;
    const { connection, name } = projectIdOf(project);
    const path = paths.key(connection, name);
    if ((await settle(store, () => store.get(path))) === undefined) return false;
    await withRetry(
      store,
      () => store.multi([remove(path)]),
      async () => (await store.get(path)) === undefined,
    );
    return true;
  }

  async projects(): Promise<readonly ProjectKey[]> {
    const { store, paths } = this.#deps;
    const found: ProjectKey[] = [];
    for (const connection of (await settle(store, () => store.children(paths.keys))) ?? []) {
      const below = await settle(store, () => store.children(`${paths.keys}/${connection}`));
      for (const name of below ?? [])
        found.push(projectKey({ connection: nameOfNode(connection), name: nameOfNode(name) }));
    }
    return found.toSorted();
  }

  async #make(project: ProjectKey): Promise<PublicKeys> {
    const created = Math.floor(toMilliseconds(this.#deps.clock.now()) / 1000);
    const before = (await this.#stored(project))?.keys ?? {};
    const bits = { secrets: this.#deps.secretsBits ?? SECRETS_BITS, ssh: SSH_BITS };
    const made: { [use in KeyUse]?: RsaKey } = {};
    for (const use of USES) if (before[use] === undefined) made[use] = await generateRsaKey(bits[use]);
    const keys = Object.fromEntries(
      Object.entries(made).map(([use, { privateKey }]) => [use, { key: privateKey, version: 0, created }]),
    );
    await this.write(project, keys, false);
    const ready = publicKeysIn((await this.#stored(project))?.keys);
    // Deleted in this very moment: the next question makes new ones.
    if (ready === undefined) throw new Error(`the keys of ${project} were deleted while they were made`);
    return ready;
  }

  /** @param change undefined: nothing to do; asked again when another process was faster. */
  async #change(
    project: ProjectKey,
    change: (before: ProjectKeys) => ProjectKeys | undefined,
  ): Promise<void> {
    const { store, paths } = this.#deps;
    const { connection, name } = projectIdOf(project);
    const path = paths.key(connection, name);
    await ensureNode(store, path.slice(0, path.lastIndexOf('/')));
    for (;;) {
      const stored = await this.#stored(project);
      const after = change(stored?.keys ?? {});
      if (after === undefined) return;
      const data = projectKeysCodec.encode(after);
      const write: Operation = stored === undefined ? create(path, data) : set(path, data, stored.version);
      try {
        await store.multi([write]);
        return;
      } catch (error) {
        // Another process was first, or the answer was lost: look again.
        const again = ['NodeExists', 'BadVersion', 'NoNode'];
        if (!isConnectionLoss(error) && !(error instanceof StoreError && again.includes(error.code)))
          throw error;
      }
    }
  }

  async #stored(project: ProjectKey): Promise<{ keys: ProjectKeys; version: number } | undefined> {
    const { store, paths } = this.#deps;
    const { connection, name } = projectIdOf(project);
    const node = await settle(store, () => store.get(paths.key(connection, name)));
    if (node === undefined) return undefined;
    return { keys: projectKeysCodec.decode(node.data), version: node.stat.version };
  }

  #sealedKey(
    project: ProjectKey,
    use: KeyUse,
    { key, version, created }: NonNullable<OpenedKeys[KeyUse]>,
  ): StoredKey {
    const pem = plainPem(key);
    const publicKey = use === 'ssh' ? sshPublicKey(key) : (rsaKeyOf(pem)?.publicKey ?? '');
    const privateKey = seal(this.#deps.masterKey, pem, contextOf(project, use));
    return { version, created, publicKey, privateKey };
  }

  #unsealed(project: ProjectKey, use: KeyUse, sealed: string): KeyObject {
    const pem = unseal(this.#deps.masterKey, sealed, contextOf(project, use));
    const key = pem === undefined ? undefined : rsaKeyOf(pem);
    if (key === undefined) throw new KeyDamaged(`the ${use} key of ${project} in the store is damaged`);
    return key.privateKey;
  }
}

/** A sealed key that is copied to another project or use does not open there. */
function contextOf(project: ProjectKey, use: KeyUse): string {
  return `gatehouse ${use} key of ${project}`;
}

function contextOfData(build: Uuid): string {
  return `gatehouse data returned by build ${build}`;
}

function publicKeysIn({ secrets, ssh }: ProjectKeys = {}): PublicKeys | undefined {
  return secrets === undefined || ssh === undefined
    ? undefined
    : { secrets: secrets.publicKey, ssh: ssh.publicKey };
}
