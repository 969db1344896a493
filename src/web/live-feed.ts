/**
 * One tenant's page as a set of named documents, and the changes of that set.
 *
 *     tenant              queue lengths, errors, tracing
 *     pipeline/gate       its queues with the uuids of their items, in order
 *     item/3f2a...        one item ({@link liveItem})
 *     forecast/gate       when its items will probably leave
 *
 * Changes come in bursts (a reset of twenty items is twenty records), so they are gathered briefly; the documents that differ from the
 * last ones sent are one update. Updates are numbered and the latest are kept, so that a reader that reconnects gets only the ones
 * it missed.
 */
import { createListeners } from '../lib/listeners.ts';
import type { WebDeps } from './deps.ts';
import type { ExpectedJobDurations } from './expected-durations.ts';
import type { Forecasts } from './forecasts.ts';
import { type KnownTexts, tenantDocuments } from './tenant-documents.ts';

/** Updates kept for readers that reconnect: maximum number, and total characters. */
const KEPT_UPDATES = 200;
const KEPT_CHARACTERS = 4_000_000;

/** Made once and sent to every reader; each sender adds its own `now`. Numbers grow by one and begin anew with the process. */
export interface Update {
  readonly number: number;
  /** Members of a JSON object: `"set":{<name>: <document>},"gone":[<name>]`. */
  readonly members: string;
}

type CatchUp =
  | { readonly kind: 'snapshot'; readonly update: Update }
  | { readonly kind: 'missed'; readonly updates: readonly Update[] };

/** Of one tenant. Nothing is computed while it has no followers, apart from what {@link refresh} is called for. */
export interface LiveFeed {
  /** Brings the documents up to date. */
  refresh(): Promise<void>;
  /** All documents as of the last refresh, or what changed since `number` when that is still known. */
  catchUp(number: number | null): CatchUp;
  /** Called with each update from now on. */
  follow(listener: (update: Update) => void): Disposable;
  /** Something may have changed. */
  touch(): void;
  /** Cancels a pending update; followers are not informed. */
  close(): void;
}

type FeedDeps = Pick<
  WebDeps,
  'snapshot' | 'traceUi' | 'contact' | 'components' | 'log' | 'clock' | 'noticeBounds' | 'sse'
> & {
  readonly expected: ExpectedJobDurations;
  readonly forecasts: Forecasts;
};

/** Reads nothing before the first {@link LiveFeed.refresh}. */
export function liveFeed(deps: FeedDeps, tenant: string): LiveFeed {
  const listeners = createListeners<[update: Update]>();
  let documents: ReadonlyMap<string, string> = new Map();
  let updates: readonly Update[] = [];
  /** Texts of items, which never change: a new version of an item is another object. */
  const known: KnownTexts = new WeakMap();
  let number = 0;
  let timer: NodeJS.Timeout | undefined;
  let dirty = true;
  let refreshing: Promise<void> = Promise.resolve();
  let closed = false;

  async function refresh(): Promise<void> {
    if (!dirty) return;
    dirty = false;
    const fresh = await tenantDocuments({ ...deps, known }, tenant);
    const set = [...fresh].filter(([name, text]) => documents.get(name) !== text);
    const gone = [...documents.keys()].filter(name => !fresh.has(name));
    documents = fresh;
    if (set.length === 0 && gone.length === 0) return;
    number += 1;
    const update = { number, members: membersText(set, gone) };
    updates = newest([...updates, update]);
    listeners.call(update);
  }

  /** One refresh after the other; a failed one leaves the feed dirty for the next. */
  function refreshed(): Promise<void> {
    refreshing = refreshing.then(refresh).catch((error: unknown) => {
      dirty = true;
      // The history may be closed while it is read; there is no page left to update.
      if (!closed) deps.log.warn({ tenant, err: error }, 'cannot update the live view');
    });
    return refreshing;
  }

  function soon(): void {
    if (listeners.isEmpty() || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      void refreshed();
    }, deps.sse.gatherMs);
  }

  return {
    refresh: refreshed,
    catchUp(since) {
      const oldest = updates[0]?.number ?? number + 1;
      if (since !== null && since <= number && since >= oldest - 1) {
        return { kind: 'missed', updates: updates.filter(update => update.number > since) };
      }
      return {
        kind: 'snapshot',
        update: { number, members: membersText([...documents], []) },
      };
    },
    follow(listener) {
      const following = listeners.add(listener);
      // It changed while the documents were made that this reader has.
      if (dirty) soon();
      return following;
    },
    touch() {
      dirty = true;
      soon();
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

function newest(updates: readonly Update[]): readonly Update[] {
  let room = KEPT_CHARACTERS;
  const tooOld = updates.findLastIndex(update => {
    room -= update.members.length;
    return room < 0;
  });
  return updates.slice(Math.max(tooOld + 1, updates.length - KEPT_UPDATES));
}

function membersText(set: readonly (readonly [string, string])[], gone: readonly string[]): string {
  return `"set":${objectText(set)},"gone":${JSON.stringify(gone)}`;
}

function objectText(entries: readonly (readonly [string, string])[]): string {
  return `{${entries.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}
