/**
 * The slots of an executor: numbers, each with its own Unix user and kept checkouts (`sandbox/`, `kept-checkout.ts`), for one build at a
 * time. `max_builds` of them may hold builds that work.
 *
 *     max_builds = 1     slot 0  image (paused) ─────────────────────► post-run
 *                        slot 1                  unit ─► end
 *
 * A paused build works no more: it keeps its number, and another build takes the next one. So what depends on it can always start, how
 * deep ever jobs pause for each other. One that goes on does so at once, also where others took all places meanwhile. So that paused builds do
 * not heap up, an executor with {@link mostPaused} of them takes only what belongs to the buildset of one, until one has ended.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { BuildRequest } from '../model/build-request.ts';
import type { JobName } from '../model/project.ts';

/** A build that occupies a slot; metrics count them. */
export interface RunningBuild {
  readonly build: Uuid;
  readonly job: JobName;
  /** When it was claimed. */
  readonly since: Nanoseconds;
  /** It waits for those that depend on it, and works no more meanwhile. */
  readonly paused: boolean;
}

/** A build in its slot, from its claim to its end. */
export interface Occupied {
  readonly slot: number;
  /** Its workspace is there, and its first playbook begins. */
  begin(): void;
  pause(): void;
  resume(): void;
  release(): void;
}

/** What may be taken. */
export type Admission =
  | { readonly kind: 'any'; readonly slot: number }
  /** Only builds of these buildsets. */
  | { readonly kind: 'family'; readonly slot: number; readonly buildsets: ReadonlySet<Uuid> }
  | { readonly kind: 'none' };

/** Made by {@link createBuildSlots}. */
export interface BuildSlots {
  /** @param shut the executor stops: it takes what its paused builds wait for, nothing else. */
  admission(shut: boolean): Admission;
  occupy(
    slot: number,
    request: Pick<BuildRequest, 'uuid' | 'jobName' | 'buildset'>,
    since: RunningBuild['since'],
  ): Occupied;
  running(): readonly RunningBuild[];
  /** Builds taken that have not begun. */
  starting(): number;
  /** No build pauses. */
  isSettled(): boolean;
  /** Resolves at the next change. */
  changed(): Promise<void>;
  /** Aborts when {@link admission} may be another because builds paused or ended their pause. */
  readonly pauses: AbortSignal;
}

/** Paused builds with which an executor takes no others that may pause. */
export function mostPaused(maxBuilds: number): number {
  return Math.max(16, maxBuilds);
}

/** Slots with Unix users of their own; those beyond share them, which takes builds that pause for each other so deep. */
export function slotsWithUsers(maxBuilds: number): number {
  return maxBuilds + mostPaused(maxBuilds);
}

interface Held extends RunningBuild {
  readonly begun: boolean;
  readonly buildset: Uuid;
}

export function createBuildSlots(maxBuilds: number): BuildSlots {
  const held = new Map<number, Held>();
  let next = Promise.withResolvers<void>();
  let pauses = new AbortController();

  const paused = () => [...held.values()].filter(build => build.paused);

  function change(ofPauses: boolean): void {
    next.resolve();
    next = Promise.withResolvers<void>();
    if (!ofPauses) return;
    pauses.abort();
    pauses = new AbortController();
  }

  function set(slot: number, isPaused: boolean): void {
    const build = held.get(slot);
    if (build === undefined || build.paused === isPaused) return;
    held.set(slot, { ...build, paused: isPaused });
    change(true);
  }

  function begin(slot: number): void {
    const build = held.get(slot);
    if (build !== undefined) held.set(slot, { ...build, begun: true });
  }

  return {
    admission(shut) {
      const waiting = paused();
      if (held.size - waiting.length >= maxBuilds) return { kind: 'none' };
      let slot = 0;
      while (held.has(slot)) slot += 1;
      if (!shut && waiting.length < mostPaused(maxBuilds)) return { kind: 'any', slot };
      return { kind: 'family', slot, buildsets: new Set(waiting.map(({ buildset }) => buildset)) };
    },
    occupy(slot, { uuid, jobName, buildset }, since) {
      held.set(slot, { build: uuid, job: jobName, since, paused: false, begun: false, buildset });
      return {
        slot,
        begin: () => begin(slot),
        pause: () => set(slot, true),
        resume: () => set(slot, false),
        release() {
          const wasPaused = held.get(slot)?.paused === true;
          held.delete(slot);
          change(wasPaused);
        },
      };
    },
    running: () => [...held.values()].map(({ buildset: _, begun: __, ...build }) => build),
    starting: () => [...held.values()].filter(({ begun }) => !begun).length,
    isSettled: () => paused().length === 0,
    changed: () => next.promise,
    get pauses() {
      return pauses.signal;
    },
  };
}
