/**
 * Which comments of ours pull requests have, as far as readings and our own writes have shown. A pipeline's first comment on a pull
 * request need not be looked for when
 *
 *     a reading that began after this process took the pipeline showed every comment of ours, by id,
 *     each of them is known by what it begins with, and none begins as the pipeline's,
 *     and no comment of the pipeline was sent since that reading began.
 *
 * No other process writes comments of the pipeline from then on, and what this process writes it knows. So the reading is as good as the list
 * that would be asked for otherwise; in every other case that list is asked for (doc/decisions/0075).
 */
import { createLru } from '../../../src/git/support/lru.ts';
import type { Clock, Nanoseconds } from '../../../src/lib/clock.ts';

interface PullPlace {
  /** `owner/name`. */
  readonly repository: string;
  readonly pull: number;
}

/** What one reading of a pull request showed of our comments. */
export interface CommentsRead extends PullPlace {
  /** When the request was sent. */
  readonly begunAt: Nanoseconds;
  /** GraphQL ids of ours, all of them; null: the pull request has more comments than were read. */
  readonly ours: readonly string[] | null;
}

/** Of one connection and process. */
export interface KnownComments {
  read(reading: CommentsRead): void;
  /** A comment is about to be sent. */
  sending(place: CommentPlace): void;
  /** A comment of ours, written by this process or listed. @param node GraphQL id. */
  seen(node: string, firstLine: string): void;
  /** @param since when this process took the pipeline; undefined: others may have written its comments until now. */
  hasNone(place: CommentPlace, since: Nanoseconds | undefined): boolean;
}

/** A pull request, and the first line of a pipeline's comments. */
interface CommentPlace extends PullPlace {
  readonly marker: string;
}

interface PullComments {
  readonly reading?: CommentsRead;
  /** When a comment was last sent, by its first line. */
  readonly sent: ReadonlyMap<string, Nanoseconds>;
}

/** Pull requests, and comments, remembered: of those beyond the comments are looked for. */
const MOST = 20_000;

/** Empty at first. @param clock the one that readings are timed by. */
export function createKnownComments(clock: Pick<Clock, 'now'>): KnownComments {
  const pulls = createLru<string, PullComments>(MOST);
  const firstLines = createLru<string, string>(MOST);
  const pullOf = (place: PullPlace): PullComments => pulls.get(keyOf(place)) ?? { sent: new Map() };
  return {
    read(reading) {
      const { reading: before, sent } = pullOf(reading);
      // Of two readings at a time, the one that began later may be answered first.
      if (before === undefined || isAfter(reading.begunAt, before.begunAt))
        pulls.set(keyOf(reading), { reading, sent });
    },
    sending(place) {
      const { sent, ...pull } = pullOf(place);
      pulls.set(keyOf(place), { ...pull, sent: new Map([...sent, [place.marker, clock.now()]]) });
    },
    seen: (node, firstLine) => firstLines.set(node, firstLine),
    hasNone(place, since) {
      const { reading, sent } = pullOf(place);
      if (reading === undefined || reading.ours === null || since === undefined) return false;
      const times = [since, sent.get(place.marker) ?? since];
      if (!times.every(time => isAfter(reading.begunAt, time))) return false;
      return reading.ours.every(node => {
        const firstLine = firstLines.get(node);
        return firstLine !== undefined && firstLine !== place.marker;
      });
    },
  };
}

function isAfter(time: Nanoseconds, other: Nanoseconds): boolean {
  return BigInt(time) > BigInt(other);
}

function keyOf({ repository, pull }: PullPlace): string {
  return `${repository.toLowerCase()}#${pull}`;
}
