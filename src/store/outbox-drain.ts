/**
 * Delivers an outbox: waits for rows, delivers them in order and in batches, removes them on arrival. One reader per outbox
 * at a time (a lock decides); a second one for a moment costs duplicate deliveries, never lost ones.
 *
 *     const drain = createOutboxDrain({ store, path: paths.spanOutbox, deliver: rows => sender.deliver(rows), … });
 *     await drain.run(signal);
 *
 * While the destination is down rows wait, bounded by age and bytes: beyond that the oldest are dropped unread, and
 * `onDropped` reports how much they held. The gate never waits for any of this.
 */
import { type Backoff, backoffDelay } from '../lib/backoff.ts';
import { type Clock, toMilliseconds } from '../lib/clock.ts';
import { pause } from '../lib/pause.ts';
import { isNewerRecord, newerAt } from '../model/codec/record.ts';
import { isConnectionLoss, settle } from './connection.ts';
import { ensureNode } from './ensure-node.ts';
import { listOutbox, type OutboxEntry, readOutbox } from './outbox.ts';
import { type Operation, remove, type Store, StoreError } from './port.ts';
import { splitOperations } from './split-operations.ts';
import { wakeUps } from './wake-ups.ts';

/**
 * The result of delivering a batch. A rejected promise counts as `{ retryAfterMs }` with our own back-off, except that of a
 * row of a newer version: it ends the drain, so that an upgraded process takes over.
 */
export type Delivery =
  | 'delivered'
  /** Permanently rejected, at least in part; the deliverer has already counted and logged it. */
  | { readonly lost: string }
  /** Send the same rows again, not earlier than this; undefined: our own back-off. */
  | { readonly retryAfterMs: number | undefined };

interface OutboxBounds {
  /** Older rows are dropped, as `too-old`. */
  readonly maxAgeMs: number;
  /** When more bytes wait, the oldest rows are dropped, as `outbox-full`. */
  readonly maxBytes: number;
}

type DropReason = 'too-old' | 'outbox-full';

/** Rows dropped together by one bound. */
interface DroppedRows {
  readonly rows: number;
  /** What they held together, for instance spans; a lower bound: a row without a count counts as one. */
  readonly values: number;
}

/** One drain per outbox; the process that holds the election for it runs it. */
export interface OutboxDrainDeps {
  readonly store: Store;
  /** The outbox; created when missing. */
  readonly path: string;
  /** @param rows oldest first, at least one. */
  readonly deliver: (rows: readonly Uint8Array[], signal: AbortSignal) => Promise<Delivery>;
  readonly clock: Clock;
  readonly bounds: OutboxBounds;
  /** Largest batch; default 200 rows, 1 MB, 1 000 values, as rows may be packed. A single larger row is a batch of its own. */
  readonly batch?: { readonly rows: number; readonly bytes: number; readonly values: number };
  readonly backoff?: Backoff;
  /** Uniform in [0, 1), for jitter. */
  readonly random: () => number;
  /** Waits before a retry, ends early when aborted; default by the real clock. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Called for a delivery that failed and will be retried. */
  readonly onRetry?: (attempt: number, reason: unknown) => void;
  /** Called for rows that will never be delivered. */
  readonly onDropped?: (reason: DropReason, dropped: DroppedRows) => void;
}

/** For metrics; `delivered` counts from the drain's creation. */
export interface OutboxCounters {
  /** Rows waiting, as of the last listing. */
  readonly depth: number;
  readonly bytes: number;
  /** Age of the oldest waiting row; 0 when none waits. */
  readonly oldestAgeMs: number;
  /** Rows delivered, or permanently rejected. */
  readonly delivered: number;
}

/** The reader of one outbox. */
export interface OutboxDrain {
  /**
   * Delivers until the signal aborts.
   *
   * @throws StoreError `SessionExpired` when the session is over; RecordError `newer` when an upgraded process must read the rows.
   */
  run(signal: AbortSignal): Promise<void>;
  /** As of the last listing or delivery; reads nothing. */
  counters(): OutboxCounters;
}

const BATCH = { rows: 200, bytes: 1_000_000, values: 1_000 };
const BACKOFF: Backoff = { firstMs: 500, maxMs: 30_000 };

/** Reads nothing before `run`. */
export function createOutboxDrain(deps: OutboxDrainDeps): OutboxDrain {
  return new Drain(deps);
}

class Drain implements OutboxDrain {
  readonly #deps: OutboxDrainDeps;
  /** When we first saw rows without a time of their own, by path. */
  #firstSeen = new Map<string, number>();
  #waiting: readonly OutboxEntry[] = [];
  #delivered = 0;
  #failures = 0;

  constructor(deps: OutboxDrainDeps) {
    this.#deps = deps;
  }

  counters(): OutboxCounters {
    return {
      depth: this.#waiting.length,
      bytes: bytesOf(this.#waiting),
      oldestAgeMs: this.#waiting.reduce((oldest, entry) => Math.max(oldest, this.#ageOf(entry)), 0),
      delivered: this.#delivered,
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    const { store, path } = this.#deps;
    await ensureNode(store, path, signal);
    for await (const _ of wakeUps(store, path, signal, event => event.kind === 'created')) {
      try {
        await this.#empty(signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }

  /** Delivers until no row waits. */
  async #empty(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#list(signal);
      if (this.#waiting.length === 0) return;
      // One listing serves many batches, until something goes wrong.
      while (this.#waiting.length > 0) {
        signal.throwIfAborted();
        if (!(await this.#deliverBatch(signal))) break;
      }
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { store, path } = this.#deps;
    this.#waiting = await settle(store, () => listOutbox(store, path), signal);
    const now = this.#now();
    this.#firstSeen = new Map(
      this.#waiting.map(entry => [entry.path, this.#firstSeen.get(entry.path) ?? now]),
    );
    await this.#enforceBounds(signal);
  }

  async #enforceBounds(signal: AbortSignal): Promise<void> {
    const { maxAgeMs, maxBytes } = this.#deps.bounds;
    const old = this.#waiting.filter(entry => this.#ageOf(entry) > maxAgeMs);
    await this.#drop(old, 'too-old', signal);
    let excess = bytesOf(this.#waiting) - maxBytes;
    const surplus: OutboxEntry[] = [];
    for (const entry of this.#waiting) {
      if (excess <= 0) break;
      surplus.push(entry);
      excess -= entry.bytes;
    }
    await this.#drop(surplus, 'outbox-full', signal);
  }

  async #drop(entries: readonly OutboxEntry[], reason: DropReason, signal: AbortSignal): Promise<void> {
    if (entries.length === 0) return;
    await this.#remove(entries, signal);
    const values = entries.reduce((sum, entry) => sum + entry.values, 0);
    this.#deps.onDropped?.(reason, { rows: entries.length, values });
  }

  /** @returns false when the outbox must be listed again: something failed, or time has passed. */
  async #deliverBatch(signal: AbortSignal): Promise<boolean> {
    const { store, onRetry } = this.#deps;
    const entries = this.#nextBatch();
    const rows = await settle(store, () => readOutbox(store, entries), signal);
    const data = rows.map(row => row.data);
    const outcome = data.length === 0 ? 'delivered' : await this.#deliver(data, signal);
    if (typeof outcome === 'object' && 'retryAfterMs' in outcome) {
      this.#failures += 1;
      onRetry?.(this.#failures, outcome.reason);
      await (this.#deps.pause ?? pause)(outcome.retryAfterMs ?? this.#delay(), signal);
      return false;
    }
    this.#failures = 0;
    // Not abortable: rows that were delivered must not be sent again only because this process stops.
    await this.#remove(entries);
    this.#delivered += data.length;
    return true;
  }

  async #deliver(
    rows: readonly Uint8Array[],
    signal: AbortSignal,
  ): Promise<Delivery & { readonly reason?: unknown }> {
    try {
      return await this.#deps.deliver(rows, signal);
    } catch (reason) {
      signal.throwIfAborted();
      if (isNewerRecord(reason)) throw newerAt(this.#deps.path, reason);
      return { retryAfterMs: undefined, reason };
    }
  }

  #nextBatch(): readonly OutboxEntry[] {
    const limit = this.#deps.batch ?? BATCH;
    let [bytes, values] = [0, 0];
    const end = this.#waiting.findIndex((entry, index) => {
      bytes += entry.bytes;
      values += entry.values;
      return index > 0 && (index === limit.rows || bytes > limit.bytes || values > limit.values);
    });
    return end === -1 ? this.#waiting : this.#waiting.slice(0, end);
  }

  async #remove(entries: readonly OutboxEntry[], signal?: AbortSignal): Promise<void> {
    for (const chunk of splitOperations(entries.map(entry => remove(entry.path))))
      await this.#removeChunk(chunk, signal);
    const gone = new Set(entries);
    this.#waiting = this.#waiting.filter(entry => !gone.has(entry));
  }

  async #removeChunk(chunk: readonly Operation[], signal?: AbortSignal): Promise<void> {
    const { store } = this.#deps;
    for (let left = chunk; left.length > 0; ) {
      try {
        await store.multi(left);
        return;
      } catch (error) {
        // A lost reply, or another reader removed some: go on with the remaining ones.
        if (!isConnectionLoss(error) && !(error instanceof StoreError && error.code === 'NoNode'))
          throw error;
      }
      const nodes = await settle(store, () => store.getMany(left.map(operation => operation.path)), signal);
      left = left.filter((_, index) => nodes[index] !== undefined);
    }
  }

  #delay(): number {
    return backoffDelay(this.#deps.backoff ?? BACKOFF, this.#failures, this.#deps.random());
  }

  #now(): number {
    return toMilliseconds(this.#deps.clock.now());
  }

  #ageOf(entry: OutboxEntry): number {
    const now = this.#now();
    return Math.max(0, now - (entry.at ?? this.#firstSeen.get(entry.path) ?? now));
  }
}

function bytesOf(entries: readonly OutboxEntry[]): number {
  return entries.reduce((sum, entry) => sum + entry.bytes, 0);
}
