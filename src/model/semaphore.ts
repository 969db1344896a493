/**
 * Semaphores: how many builds at a time may hold one name.
 *
 * A semaphore is a directory of numbered slots in the store, and a build that holds it has one of them. A slot is made in the commit
 * that requests the build and removed in the one that ends it; `Build.semaphores` names the slots, and they are held exactly while
 * the build is open. Each turn takes the lowest free number: of two that see the same free slot only one can make it, so
 * that there are never more holders than `max`, also after `max` was lowered (decision 0155). Of a playbook's semaphores the executor
 * holds ephemeral slots in the same directories while the playbook runs (decision 0191).
 *
 *     slots 0, 1 and 4 taken, max 3    →    full
 *     slots 0 and 4 taken, max 3       →    1 is next
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { JobName, PipelineName, TenantName } from './project.ts';

/** `tenant`: the builds of one tenant count. `global`: those of all tenants that may use it. */
export type SemaphoreScope = 'tenant' | 'global';

/** What the configuration says of a name. */
export interface SemaphoreRule {
  readonly scope: SemaphoreScope;
  /** At least 1. */
  readonly max: number;
}

/** A semaphore of a job. */
export interface JobSemaphore {
  readonly name: string;
  /** Take nodes first. There are no nodes here that are requested, so it makes no difference. */
  readonly resourcesFirst?: true;
}

/** A semaphore of a playbook, as the configuration had it when its build was requested. */
export type WantedSemaphore = SemaphoreRule & { readonly name: string };

/** A slot that a build holds while it is open. The scope stays as it was taken, also when the configuration has another one since. */
export interface SemaphoreHold {
  readonly name: string;
  readonly scope: SemaphoreScope;
  readonly slot: number;
}

/** Who holds a slot. Stored in the slot as the record `semaphore-holder`. */
export interface SemaphoreHolder {
  readonly tenant: TenantName;
  readonly pipeline: PipelineName;
  readonly item: Uuid;
  readonly buildset: Uuid;
  readonly build: Uuid;
  readonly job: JobName;
  /** Text of the item's changes, for people of its tenant. */
  readonly change: string;
  readonly since: Nanoseconds;
  /** Only it holds the slot, not the whole build: the slot is ephemeral, and its executor's. Absent: the build does. */
  readonly playbook?: string;
}

/** A holder as another item of its tenant may name it. */
export type HolderOfOwnTenant = Pick<SemaphoreHolder, 'item' | 'job' | 'change'>;

/** A job's wait for semaphores, from the turn that could have started it. Part of the record `queue-item`. */
export interface SemaphoreWait {
  /** Its span. */
  readonly uuid: Uuid;
  readonly job: JobName;
  readonly since: Nanoseconds;
  /** All of the job; at least one of them had no free slot. */
  readonly semaphores: readonly string[];
  /** Some that held those without a free slot when it began to wait; builds of other tenants are not named. */
  readonly heldBy: readonly HolderOfOwnTenant[];
  /** `taken`: it got all of them. `given-up`: it was reset, dequeued, skipped or held by something else. */
  readonly ended: null | { readonly at: Nanoseconds; readonly outcome: 'taken' | 'given-up' };
}

/** The lowest free slot; undefined: there is none. @param taken of one semaphore, by builds of any pipeline. */
export function freeSlot(taken: ReadonlySet<number>, max: number): number | undefined {
  if (taken.size >= max) return undefined;
  let slot = 0;
  while (taken.has(slot)) slot++;
  return slot;
}

/** Names one semaphore of those that a tenant sees. */
export function semaphoreKey({ scope, name }: Pick<SemaphoreHold, 'scope' | 'name'>): string {
  return `${scope} ${name}`;
}

/** For people: `db, which unit of app A,1 holds`. */
export function semaphoreWaitText({
  semaphores,
  heldBy,
}: Pick<SemaphoreWait, 'semaphores' | 'heldBy'>): string {
  const [first] = heldBy;
  const names = semaphores.join(', ');
  return first === undefined ? names : `${names}, which ${first.job} of ${first.change} holds`;
}

interface EndedByStop {
  readonly ended: null | { readonly at: Nanoseconds; readonly outcome: string };
}

/** All open waits of a buildset end. @returns the same list when none is open. */
export function endWaits<Wait extends EndedByStop>(
  waits: readonly Wait[] | undefined,
  at: Nanoseconds,
): readonly Wait[] | undefined {
  if (waits?.some(({ ended }) => ended === null) !== true) return waits;
  return waits.map(wait => (wait.ended === null ? { ...wait, ended: { at, outcome: 'given-up' } } : wait));
}
