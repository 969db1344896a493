/**
 * A durable queue: first in, first out, one node per entry, below one path that must never be deleted (its sequence numbers
 * would start again).
 *
 * Writing to it and taking from it are `Operation` values, so that they ride in the multi that records the effect: an event
 * leaves the queue in the same instant in which its effect is stored.
 *
 *     await fence.commit([...queue.put(event), set(state, next)], id);                       // what happens, and its echo
 *     for (const entry of await queue.list(200)) …                                          // in order, nothing removed
 *     await fence.commit([queue.ack(entry), set(state, next)], id);                         // taken, with its effect
 *
 * An entry that cannot be decoded never blocks the ones behind it: `list` moves it to `<path>-dead`. A failed attempt at
 * handling one is counted (`noteFailure`: the node's version); after too many it becomes a dead letter (`deadLetter`). An
 * entry of a newer version stays in place and blocks the queue: its holder hands over to an upgraded process.
 */
import type { Clock } from '../lib/clock.ts';
import { derivedUuid } from '../lib/ids.ts';
import type { Dirty } from '../lib/signal.ts';
import { isNewerRecord, newerAt, RecordError } from '../model/codec/record.ts';
import { isConnectionLoss, settle } from './connection.ts';
import { type DeadLetter, deadLetterPath, decodeDeadLetter, encodeDeadLetter } from './dead-letter.ts';
import { ensureNode } from './ensure-node.ts';
import { nodeName } from './paths.ts';
import { create, type Operation, remove, type Store, type StoredNode, StoreError, set } from './port.ts';
import { wakeUps } from './wake-ups.ts';

/** The form of a queue's entries; the record codecs of `src/model/codec` have this shape. */
export interface BytesCodec<T> {
  encode(value: T): Uint8Array;
  /** @throws RecordError `newer` when an upgraded process can read the bytes; any other error when they are broken. */
  decode(bytes: Uint8Array): T;
}

/** One object per queue and process; the queue's nodes are shared by all processes. */
export interface EventQueueDeps<T> {
  readonly store: Store;
  /** Parent of the entries. Never deleted. */
  readonly path: string;
  readonly codec: BytesCodec<T>;
  readonly clock: Pick<Clock, 'now'>;
  /** Where the ids of accepted deliveries are stored; without it nothing is deduplicated. See seen.ts. */
  readonly seenPath?: string;
  /** Called for each entry that `list` moved aside. */
  readonly onDeadLetter?: (path: string, error: unknown) => void;
}

/** An entry as it was read; operations made from it fail when another process has taken it since. */
export interface QueueEntry<T> {
  readonly path: string;
  readonly value: T;
  /** How often its handling has failed; also the version of its node. */
  readonly attempts: number;
  /** As stored: a failed attempt and a dead letter write them back unchanged. */
  readonly bytes: Uint8Array;
}

/** Largest entry; leaves room in a multi for what rides along and for its copy among the dead letters. */
export const MAX_ENTRY_BYTES = 900_000;

/** Entries read per round trip. */
const READ_AT_ONCE = 200;

/** All methods that return operations write nothing by themselves: commit them. */
export class EventQueue<T> {
  readonly path: string;
  readonly #deps: EventQueueDeps<T>;

  constructor(deps: EventQueueDeps<T>) {
    this.path = deps.path;
    this.#deps = deps;
  }

  /** Creates the parents; call once, before anything else. */
  async prepare(signal?: AbortSignal): Promise<void> {
    const { store, path, seenPath } = this.#deps;
    for (const parent of [path, deadLetterPath(path), ...(seenPath === undefined ? [] : [seenPath])]) {
      await ensureNode(store, parent, signal);
    }
  }

  /**
   * Appends `value`.
   *
   * @param id when given (and the queue has a `seenPath`), the multi fails with `NodeExists` if that id was accepted before.
   * @throws StoreError `TooLarge`, before anything is written, when the value is over {@link MAX_ENTRY_BYTES}.
   */
  put(value: T, id?: string): readonly Operation[] {
    const { path, codec, seenPath, clock } = this.#deps;
    const bytes = codec.encode(value);
    if (bytes.byteLength > MAX_ENTRY_BYTES) throw new StoreError('TooLarge', path);
    const append = create(`${path}/`, bytes, { sequential: true });
    if (id === undefined || seenPath === undefined) return [append];
    return [append, create(`${seenPath}/${nodeName(id)}`, new TextEncoder().encode(clock.now()))];
  }

  /**
   * Stores a delivery that may arrive more than once, and returns only when it is durable: for webhooks.
   *
   * @returns `duplicate` when the id was accepted before. After a lost reply the id decides; nothing is stored twice.
   */
  async offer(value: T, id: string): Promise<'stored' | 'duplicate'> {
    const { store, seenPath } = this.#deps;
    if (seenPath === undefined) throw new Error(`the queue ${this.path} remembers no ids`);
    const seen = `${seenPath}/${nodeName(id)}`;
    for (;;) {
      try {
        await store.multi(this.put(value, id));
        return 'stored';
      } catch (error) {
        if (error instanceof StoreError && error.code === 'NodeExists' && error.path === seen)
          return 'duplicate';
        if (!isConnectionLoss(error)) throw error;
      }
      if ((await settle(store, () => store.get(seen))) !== undefined) return 'stored';
    }
  }

  /**
   * The first `limit` entries in order, or those before the first of a newer version. Moves broken entries aside.
   *
   * @throws RecordError `newer` when the first entry is of a newer version; without a `limit`, when any is: the caller then
   *   wants the whole queue, and a part of it would be wrong.
   */
  async list(limit = Number.POSITIVE_INFINITY): Promise<readonly QueueEntry<T>[]> {
    const { store, path } = this.#deps;
    const paths = ((await store.children(path)) ?? []).map(name => `${path}/${name}`);
    const entries: QueueEntry<T>[] = [];
    for (let at = 0; at < paths.length && entries.length < limit; at += READ_AT_ONCE) {
      const chunk = paths.slice(at, at + Math.min(READ_AT_ONCE, limit - entries.length));
      const nodes = await store.getMany(chunk);
      for (const [index, entryPath] of chunk.entries()) {
        const entry = await this.#read(entryPath, nodes[index]);
        if (entry instanceof RecordError) {
          if (entries.length > 0 && Number.isFinite(limit)) return entries;
          throw entry;
        }
        if (entry !== undefined) entries.push(entry);
      }
    }
    return entries;
  }

  /**
   * Entries that arrived since the last call, in order and in batches: for a reader that works on several entries in parallel.
   *
   * @param known paths of the entries returned before; updated: new entries are added, removed ones deleted.
   * @throws RecordError `newer` after all entries before the first of a newer version.
   */
  async *additions(known: Set<string>): AsyncGenerator<readonly QueueEntry<T>[], void, undefined> {
    const { store, path } = this.#deps;
    const names = (await settleUnless(store, () => store.children(path))) ?? [];
    const present = new Set(names.map(name => `${path}/${name}`));
    for (const each of known) if (!present.has(each)) known.delete(each);
    const fresh = [...present].filter(each => !known.has(each));
    for (let at = 0; at < fresh.length; at += READ_AT_ONCE) {
      const read = await this.#readAll(fresh.slice(at, at + READ_AT_ONCE));
      const newer = read.find(entry => entry instanceof RecordError);
      const entries = (newer === undefined ? read : read.slice(0, read.indexOf(newer))).filter(isEntry<T>);
      for (const entry of entries) known.add(entry.path);
      yield entries;
      if (newer !== undefined) throw newer;
    }
  }

  /** The entries at these paths that still exist. @throws RecordError `newer` */
  async read(paths: readonly string[]): Promise<readonly QueueEntry<T>[]> {
    const read = await this.#readAll(paths);
    for (const entry of read) if (entry instanceof RecordError) throw entry;
    return read.filter(isEntry<T>);
  }

  /** Takes the entry; the multi fails with `NoNode` when another process took it before. */
  ack(entry: QueueEntry<T>): Operation {
    return remove(entry.path);
  }

  /** Counts a failed attempt; the entry keeps its place. Fails with `BadVersion` when another process counted meanwhile. */
  noteFailure(entry: QueueEntry<T>): Operation {
    return set(entry.path, entry.bytes, entry.attempts);
  }

  /** Moves the entry to the dead letters, with the error, for operators to inspect. */
  deadLetter(entry: QueueEntry<T>, error: unknown): readonly Operation[] {
    return this.#bury(entry.path, entry.bytes, entry.attempts, error);
  }

  /**
   * Forwards the entry to any number of queues: removed here and added there in one transaction. The copies' ids derive from
   * the entry, so that repeating the move from an old snapshot cannot duplicate them.
   */
  forward<U>(
    entry: QueueEntry<T>,
    targets: readonly { queue: EventQueue<U>; value: U }[],
  ): readonly Operation[] {
    const copies = targets.flatMap(({ queue, value }) =>
      queue.put(value, derivedUuid(entry.path, queue.path)),
    );
    return [this.ack(entry), ...copies];
  }

  /** Number of entries, among them any that cannot be read; 0 before `prepare`. */
  async depth(): Promise<number> {
    return (await this.#deps.store.get(this.path))?.stat.childCount ?? 0;
  }

  /** The dead letters, oldest first, with their current paths. */
  async deadLetters(): Promise<readonly (DeadLetter & { readonly path: string })[]> {
    const { store } = this.#deps;
    const base = deadLetterPath(this.path);
    const paths = ((await store.children(base)) ?? []).map(name => `${base}/${name}`);
    const nodes = await store.getMany(paths);
    return paths.flatMap((path, index) => {
      const node = nodes[index];
      return node === undefined ? [] : [{ ...decodeDeadLetter(node.data), path }];
    });
  }

  /** Puts a dead letter back at the end of the queue. */
  revive(letter: DeadLetter & { readonly path: string }): readonly Operation[] {
    return [remove(letter.path), create(`${this.path}/`, letter.bytes, { sequential: true })];
  }

  /** Returns when there is at least one entry; rejects with the signal's reason when aborted. */
  async waitForEntries(signal: AbortSignal): Promise<void> {
    for await (const _ of this.arrivals(signal)) if ((await this.depth()) > 0) return;
    signal.throwIfAborted();
  }

  /**
   * Once at the start, then whenever entries may have come in. Ends when aborted.
   *
   * @param dirty set from elsewhere to request another yield; set now for the one at the start.
   */
  arrivals(signal: AbortSignal, dirty?: Dirty): AsyncGenerator<void, void, undefined> {
    return wakeUps(this.#deps.store, this.path, signal, event => event.kind === 'created', dirty);
  }

  /** In the order of the paths. */
  async #readAll(paths: readonly string[]): Promise<readonly (QueueEntry<T> | RecordError | undefined)[]> {
    const { store } = this.#deps;
    const nodes = await settleUnless(store, () => store.getMany(paths));
    const entries: (QueueEntry<T> | RecordError | undefined)[] = [];
    for (const [index, path] of paths.entries()) entries.push(await this.#read(path, nodes[index]));
    return entries;
  }

  /** @returns the error of the first entry of a newer version. */
  async #read(path: string, node: StoredNode | undefined): Promise<QueueEntry<T> | RecordError | undefined> {
    if (node === undefined) return undefined;
    const { data: bytes, stat } = node;
    try {
      return { path, value: this.#deps.codec.decode(bytes), attempts: stat.version, bytes };
    } catch (error) {
      if (isNewerRecord(error)) return newerAt(path, error);
      await this.#moveAside(path, bytes, stat.version, error);
      this.#deps.onDeadLetter?.(path, error);
      return undefined;
    }
  }

  async #moveAside(path: string, bytes: Uint8Array, version: number, reason: unknown): Promise<void> {
    try {
      await this.#deps.store.multi(this.#bury(path, bytes, version, reason));
    } catch (error) {
      // Moved by another process, or outcome unknown: the next `list` handles it if it is still there.
      if (!(error instanceof StoreError) || !['NoNode', 'BadVersion', 'ConnectionLoss'].includes(error.code))
        throw error;
    }
  }

  #bury(path: string, bytes: Uint8Array, version: number, error: unknown): readonly Operation[] {
    const letter = encodeDeadLetter(
      { from: path, bytes, attempts: version, at: this.#deps.clock.now() },
      error,
    );
    return [remove(path, version), create(`${deadLetterPath(this.path)}/`, letter, { sequential: true })];
  }
}

function isEntry<T>(read: QueueEntry<T> | RecordError | undefined): read is QueueEntry<T> {
  return read !== undefined && !(read instanceof RecordError);
}

/** Reads; after a lost connection, again. */
async function settleUnless<R>(store: Store, ask: () => Promise<R>): Promise<R> {
  try {
    return await ask();
  } catch (error) {
    if (!isConnectionLoss(error)) throw error;
    return await settle(store, ask);
  }
}
