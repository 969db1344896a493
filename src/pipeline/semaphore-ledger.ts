/**
 * Who holds which slots, during one call of the turn: slots of others are facts, those of the pipeline's own builds follow from their
 * records. A build that ended in this turn has left its slots, and the next job in order may have them in the same commit.
 *
 * A job takes all of its semaphores or none, so that no two jobs hold one each and wait for the other's.
 */
import type { Uuid } from '../lib/ids.ts';
import { changesText } from '../model/about-item.ts';
import { isOpen } from '../model/build.ts';
import type { JobNode } from '../model/job.ts';
import type { QueueItem } from '../model/queue-item.ts';
import {
  freeSlot,
  type HolderOfOwnTenant,
  type SemaphoreHold,
  type SemaphoreRule,
  semaphoreKey,
} from '../model/semaphore.ts';

/** One semaphore as the store has it. */
export interface SemaphoreFacts extends SemaphoreRule {
  /** Slots of builds of other pipelines and tenants, or of no build that is known. */
  readonly takenByOthers: ReadonlySet<number>;
  /** Some of those builds, as far as they are of this tenant. */
  readonly holders: readonly HolderOfOwnTenant[];
}

/** By name, as the tenant's jobs call them. */
export type KnownSemaphores = ReadonlyMap<string, SemaphoreFacts>;

/** `full`: at least one of the job's semaphores has no free slot. `unknown`: facts are missing, nothing is decided. */
export type Taken =
  | { readonly kind: 'taken'; readonly holds: readonly SemaphoreHold[] }
  | {
      readonly kind: 'full';
      readonly semaphores: readonly string[];
      readonly heldBy: readonly HolderOfOwnTenant[];
    }
  | { readonly kind: 'unknown'; readonly semaphores: readonly string[] };

interface OwnHold {
  readonly item: Uuid;
  readonly build: Uuid;
  readonly holder: HolderOfOwnTenant;
  /** Taken in this call: its build is not in the item's record yet. */
  readonly fresh: boolean;
}

/** Holders named in a wait. */
const MOST_HOLDERS = 3;

/** Of one call of the turn. */
export class SemaphoreLedger {
  readonly #known: KnownSemaphores;
  readonly #itemOf: (uuid: Uuid) => QueueItem | undefined;
  /** Names that were not all free when a job asked for them, each set once. */
  readonly #refused = new Map<string, readonly string[]>();
  /** By semaphore, then by slot. */
  readonly #own = new Map<string, Map<number, OwnHold>>();

  /** @param items as they are when the first job asks; `itemOf` has them as they are later. */
  constructor(
    known: KnownSemaphores,
    items: Iterable<QueueItem>,
    itemOf: (uuid: Uuid) => QueueItem | undefined,
  ) {
    this.#known = known;
    this.#itemOf = itemOf;
    for (const item of items)
      for (const build of item.buildset.builds)
        if (isOpen(build)) this.#note(item, build.job, build.uuid, build.semaphores ?? [], false);
  }

  /** Takes a slot of each of the job's semaphores for this build, or none of any. */
  take(item: QueueItem, job: JobNode, build: Uuid): Taken {
    const names = (job.semaphores ?? []).map(({ name }) => name);
    const unknown = names.filter(name => !this.#known.has(name));
    if (unknown.length > 0) return { kind: 'unknown', semaphores: unknown };
    const holds: SemaphoreHold[] = [];
    const heldBy: HolderOfOwnTenant[] = [];
    for (const name of names) {
      const facts = this.#known.get(name);
      if (facts === undefined) continue;
      const own = this.#openHolds(semaphoreKey({ scope: facts.scope, name }));
      const slot = this.#freeSlot(name, facts);
      if (slot === undefined) {
        this.#refused.set(JSON.stringify(names), names);
        heldBy.push(...[...own.values()].map(({ holder }) => holder), ...facts.holders);
      } else holds.push({ name, scope: facts.scope, slot });
    }
    if (holds.length < names.length)
      return { kind: 'full', semaphores: names, heldBy: heldBy.slice(0, MOST_HOLDERS) };
    this.#note(item, job.name, build, holds, true);
    return { kind: 'taken', holds };
  }

  /** A job was refused semaphores that are free by now: builds that held them have ended since. */
  hasFreed(): boolean {
    return [...this.#refused.values()].some(names =>
      names.every(name => {
        const facts = this.#known.get(name);
        return facts !== undefined && this.#freeSlot(name, facts) !== undefined;
      }),
    );
  }

  #freeSlot(name: string, { scope, takenByOthers, max }: SemaphoreFacts): number | undefined {
    const own = this.#openHolds(semaphoreKey({ scope, name }));
    return freeSlot(new Set([...takenByOthers, ...own.keys()]), max);
  }

  #note(item: QueueItem, job: string, build: Uuid, holds: readonly SemaphoreHold[], fresh: boolean): void {
    for (const hold of holds) {
      const key = semaphoreKey(hold);
      const slots = this.#own.get(key) ?? new Map<number, OwnHold>();
      const holder = { item: item.uuid, job, change: changesText(item) };
      slots.set(hold.slot, { item: item.uuid, build, holder, fresh });
      this.#own.set(key, slots);
    }
  }

  /** Without those of builds that have ended since the ledger was made. */
  #openHolds(key: string): ReadonlyMap<number, OwnHold> {
    const slots = this.#own.get(key) ?? new Map<number, OwnHold>();
    for (const [slot, { item, build, fresh }] of slots) {
      if (fresh) continue;
      const now = this.#itemOf(item)?.buildset.builds.find(({ uuid }) => uuid === build);
      if (now === undefined || !isOpen(now)) slots.delete(slot);
    }
    return slots;
  }
}
