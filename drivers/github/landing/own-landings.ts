/**
 * What this process landed a moment ago: pushes, of which git's answer says whether they were done, and pull requests whose head is in their base for it. GitHub
 * reports them back as events; these need no reading, because the answer to the write has said what it would show.
 *
 *     push noted ──claim──► of one event, which is processed by itself ──take──► gone
 *         └───────────────────────────┴── another event of the ref is read ──► gone: what was read is newer
 *
 * That saves requests and decides nothing: what is not noted (another process landed it) is read at
 * GitHub.
 */
import { createLru } from '../../../src/git/support/lru.ts';
import type { Uuid } from '../../../src/lib/ids.ts';
import { pause } from '../../../src/lib/pause.ts';

/** A push with a lease: when it is done, the branch was at `before` until then. */
interface OwnPush {
  readonly before: string;
  readonly after: string;
  /** Of `after`. */
  readonly tree: string;
}

/** A branch of a repository (`owner/name`), by its full name. */
interface RefPlace {
  readonly repository: string;
  readonly ref: string;
}

/** Of one connection: landings write it, the processing of events reads it. */
export interface OwnLandings {
  /** The push is about to be sent. @param done whether git's answer says that it was done; never rejects. */
  pushing(place: RefPlace, push: OwnPush, done: Promise<boolean>): void;
  /** Whether the event reports a push of ours. Then no other event may be answered with it. */
  claim(
    place: RefPlace,
    event: Uuid,
    reported: { readonly before: string | null; readonly after: string | null },
  ): boolean;
  /**
   * The push that the event has claimed; undefined: the ref has to be read, and what was noted of it is forgotten.
   *
   * Waits for git's answer where the webhook came first, for two seconds at most.
   *
   * @param known where the ref was when it was read last; null: it was gone; undefined: it was not read.
   */
  take(
    place: RefPlace,
    event: Uuid,
    known: string | null | undefined,
    signal: AbortSignal,
  ): Promise<OwnPush | undefined>;
  /** The base holds this head of the pull request: GitHub marks it as merged, and nothing can reopen it. */
  merged(repository: string, pull: number, head: string): void;
  isMerged(repository: string, pull: number, head: string): boolean;
}

interface NotedPush extends OwnPush {
  readonly done: Promise<boolean>;
}

interface RefPushes {
  /** Oldest first. */
  readonly free: readonly NotedPush[];
  readonly claimed: ReadonlyMap<Uuid, NotedPush>;
}

/** Branches and pull requests remembered; their events come within seconds. */
const MOST = 5_000;
/** Pushes of one branch. */
const MOST_PUSHES = 100;

/** Empty at first. */
export function createOwnLandings(): OwnLandings {
  const refs = createLru<string, RefPushes>(MOST);
  const merged = createLru<string, true>(MOST);
  const key = (repository: string, name: string) => `${repository.toLowerCase()} ${name}`;
  const pushesOf = (place: RefPlace): RefPushes =>
    refs.get(key(place.repository, place.ref)) ?? { free: [], claimed: new Map() };
  const keep = (place: RefPlace, pushes: RefPushes) => refs.set(key(place.repository, place.ref), pushes);
  return {
    pushing(place, push, done) {
      const { free, claimed } = pushesOf(place);
      keep(place, { free: [...free, { ...push, done }].slice(-MOST_PUSHES), claimed });
    },
    claim(place, event, reported) {
      const { free, claimed } = pushesOf(place);
      const push = free.findLast(
        ({ before, after }) => before === reported.before && after === reported.after,
      );
      if (push === undefined) return false;
      keep(place, {
        free: free.filter(each => each !== push),
        claimed: new Map([...claimed, [event, push]]),
      });
      return true;
    },
    async take(place, event, known, signal) {
      const push = pushesOf(place).claimed.get(event);
      const isNext = push !== undefined && (known === undefined || known === push.before);
      if (!isNext || !(await isDone(push, signal))) {
        refs.delete(key(place.repository, place.ref));
        return undefined;
      }
      const now = pushesOf(place);
      keep(place, { ...now, claimed: new Map([...now.claimed].filter(([each]) => each !== event)) });
      return push;
    },
    merged: (repository, pull, head) => merged.set(key(repository, `${pull} ${head}`), true),
    isMerged: (repository, pull, head) => merged.get(key(repository, `${pull} ${head}`)) === true,
  };
}

/** Milliseconds: git's answer is under way when the webhook is here. */
const LONGEST_WAIT = 2_000;

async function isDone({ done }: NotedPush, signal: AbortSignal): Promise<boolean> {
  const answered = new AbortController();
  const late = pause(LONGEST_WAIT, AbortSignal.any([signal, answered.signal])).then(() => false);
  try {
    return await Promise.race([done, late]);
  } finally {
    answered.abort();
  }
}
