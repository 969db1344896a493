/** The keys of one agent: those that its build was given, and those that its job adds and removes, which ends with the build. */

export interface AgentKey {
  /** The public key as ssh writes it. */
  readonly blob: Buffer;
  /** Shown by `ssh-add -l`. */
  readonly comment: string;
  /** @param flags of the request: in which way an RSA key is to sign. */
  sign(data: Buffer, flags: number): Promise<KeySignature>;
}

/** `algorithm`: its name in ssh. */
interface KeySignature {
  readonly algorithm: string;
  readonly signature: Buffer;
}

export interface AgentKeys {
  list(): readonly AgentKey[];
  /** In place of the same key with another comment. @returns false: it has as many as it may have. */
  add(key: AgentKey): boolean;
  /** @returns false: there is none. */
  remove(blob: Buffer): boolean;
  removeAll(): void;
  /**
   * One after the other: a job may bring a long key and ask over all of its connections, and signing takes threads that the whole executor
   * reads and writes files with.
   *
   * @param flags as {@link AgentKey.sign}. @returns undefined: there is no such key.
   */
  sign(blob: Buffer, data: Buffer, flags: number): Promise<KeySignature | undefined>;
  /** @returns removes the keys that were added since. */
  mark(): () => void;
}

/** Servers end a login after six. */
const MOST_KEYS = 32;

export function agentKeys(given: readonly AgentKey[]): AgentKeys {
  let keys = given;
  let signing: Promise<unknown> = Promise.resolve();
  const others = (blob: Buffer) => keys.filter(each => !each.blob.equals(blob));
  return {
    list: () => keys,
    add(key) {
      const kept = others(key.blob);
      if (kept.length >= MOST_KEYS) return false;
      keys = [...kept, key];
      return true;
    },
    remove(blob) {
      const kept = others(blob);
      const isFound = kept.length < keys.length;
      keys = kept;
      return isFound;
    },
    removeAll() {
      keys = [];
    },
    sign(blob, data, flags) {
      const next = signing.then(() => keys.find(each => each.blob.equals(blob))?.sign(data, flags));
      signing = next.catch(() => undefined);
      return next;
    },
    mark() {
      const before = keys;
      return () => {
        keys = keys.filter(({ blob }) => before.some(each => each.blob.equals(blob)));
      };
    },
  };
}
