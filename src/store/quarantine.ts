/**
 * Unreadable records: copied below `quarantine/` with their original path and the reason, and removed from their place. Only
 * the object the record described is affected; the loop that met it goes on.
 *
 *     const quarantine = createQuarantine({ store, path: paths.quarantine, clock, log });
 *     const item = await quarantine.read(queueItemCodec, path, await store.get(path));      // undefined: absent or quarantined
 *
 * A record of a newer version is not broken: `read` throws, and the caller leaves it to upgraded processes.
 */
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { type Codec, isBrokenRecord, isNewerRecord, newerAt } from '../model/codec/record.ts';
import { isConnectionLoss } from './connection.ts';
import { encodeDeadLetter } from './dead-letter.ts';
import { ensureNode } from './ensure-node.ts';
import { create, remove, type Store, type StoredNode, StoreError, set } from './port.ts';

/** `path` and `store` are those of the installation: all processes share one quarantine. */
export interface QuarantineDeps {
  readonly store: Store;
  /** Parent of the copies; created when first needed. */
  readonly path: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

interface ReadOptions {
  /** The node itself must stay, because it is only ever set: it is emptied, and empty means not written yet. Default false. */
  readonly keepNode?: boolean;
}

/** Reads records in such a way that a broken one does not stop the loop that met it. */
export interface Quarantine {
  /**
   * The decoded record.
   *
   * @returns undefined when there is no such node, or when it could not be read and has been quarantined.
   * @throws RecordError `newer`, with the path.
   */
  read<T>(
    codec: Codec<T>,
    path: string,
    node: StoredNode | undefined,
    options?: ReadOptions,
  ): Promise<T | undefined>;
  /** Keeps a copy of a record that was removed otherwise. @param from the place it had, or the queue it came from. */
  keep(from: string, bytes: Uint8Array, error: unknown): Promise<void>;
  /** Quarantines the node unless it changed since it was read; safe to call from several processes at the same time. */
  move(path: string, node: StoredNode, error: unknown, options?: ReadOptions): Promise<void>;
}

/** Keeps no state: any number of them may use the same place. */
export function createQuarantine(deps: QuarantineDeps): Quarantine {
  const { store, path: parent, clock, log } = deps;

  async function move(
    path: string,
    node: StoredNode,
    error: unknown,
    options: ReadOptions = {},
  ): Promise<void> {
    const { version } = node.stat;
    const letter = { from: path, bytes: node.data, attempts: version, at: clock.now() };
    const copy = create(`${parent}/`, encodeDeadLetter(letter, error), { sequential: true });
    const away = options.keepNode === true ? set(path, new Uint8Array(0), version) : remove(path, version);
    await ensureNode(store, parent);
    try {
      const [, kept] = await store.multi([away, copy]);
      log.error({ err: error, path, copy: kept?.path }, 'a record cannot be read; it is quarantined');
    } catch (failure) {
      // Quarantined or rewritten by another process, or outcome unknown: the next reader handles it if it is still there.
      const lostRace = failure instanceof StoreError && ['NoNode', 'BadVersion'].includes(failure.code);
      if (!lostRace && !isConnectionLoss(failure)) throw failure;
    }
  }

  return {
    move,
    async keep(from, bytes, error) {
      const letter = { from, bytes, attempts: 0, at: clock.now() };
      await ensureNode(store, parent);
      const copy = create(`${parent}/`, encodeDeadLetter(letter, error), { sequential: true });
      const made = await store.multi([copy]);
      log.error(
        { err: error, path: from, copy: made[0]?.path },
        'a record cannot be read; it is quarantined',
      );
    },
    async read(codec, path, node, options = {}) {
      if (node === undefined || (options.keepNode === true && node.data.length === 0)) return undefined;
      try {
        return codec.decode(node.data);
      } catch (error) {
        if (isNewerRecord(error)) throw newerAt(path, error);
        if (!isBrokenRecord(error)) throw error;
        await move(path, node, error, options);
        return undefined;
      }
    },
  };
}
