/**
 * What the webs said while things were going on: each item's trace id and when it was enqueued, seen by a client that follows
 * the live feed and turns to another web when one does not answer.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Api, ApiError, createApi } from '../../../src/cmd/client/api.ts';
import { type FollowedTenant, followTenant } from '../../../src/cmd/client/follow.ts';
import { TENANT } from './layout.ts';

interface Sighting {
  readonly uuid: string;
  /** `master/c01`. */
  readonly change: string;
  readonly project: string;
  /** Milliseconds since the epoch, as first shown. */
  readonly enqueuedAt: number;
}

export interface Sightings extends AsyncDisposable {
  /** By uuid. */
  readonly items: ReadonlyMap<string, Sighting>;
  /** As last shown. */
  view(): FollowedTenant | undefined;
  /** Items that were shown again with another change or another time of enqueueing: none, if all is well. */
  readonly contradictions: readonly string[];
}

/** Milliseconds before another web is asked. */
const PAUSE = 100;

export function openSightings(webs: () => readonly string[]): Sightings {
  const stop = new AbortController();
  const items = new Map<string, Sighting>();
  const contradictions: string[] = [];
  let view: FollowedTenant | undefined;

  function look(next: FollowedTenant): void {
    view = next;
    for (const item of next.items.values()) {
      const [change] = item.changes;
      if (change === undefined) continue;
      const seen = {
        uuid: item.uuid,
        change: change.name,
        project: change.project,
        enqueuedAt: item.enqueuedAt,
      };
      const before = items.get(item.uuid);
      if (before === undefined) items.set(item.uuid, seen);
      else if (before.change !== seen.change || before.enqueuedAt !== seen.enqueuedAt)
        contradictions.push(`${JSON.stringify(before)} became ${JSON.stringify(seen)}`);
    }
  }

  async function follow(): Promise<void> {
    for (let tries = 0; !stop.signal.aborted; tries++) {
      const all = webs();
      const web = all[tries % all.length];
      try {
        if (web !== undefined)
          for await (const next of followTenant(createApi(web), TENANT, stop.signal)) look(next);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
      }
      await delay(PAUSE);
    }
  }
  const following = follow();
  return {
    items,
    contradictions,
    view: () => view,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await following;
    },
  };
}

/** Asks one web after the other until one answers. @throws ApiError of the last when none does. */
export function anyOf(webs: () => readonly string[]): Pick<Api, 'get'> {
  return {
    async get<Answer>(path: string): Promise<Answer> {
      let last: unknown = new ApiError(0, 'there is no web');
      for (const web of webs()) {
        try {
          return await createApi(web).get<Answer>(path);
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          last = error;
        }
      }
      throw last;
    },
  };
}
