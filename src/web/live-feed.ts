/**
 * One tenant's page as a set of named documents, and what changed in it.
 *
 *     tenant              queue lengths, errors, tracing
 *     pipeline/gate       its queues with the uuids of their items, in order
 *     item/3f2a...        one item ({@link liveItem})
 *
 * Changes come in bursts (a reset of twenty items is twenty records), so they are gathered for a moment; then the
 * documents that differ from those sent last are one update. Every update has a number, and the last ones are kept, so
 * that a reader who was away for a moment gets just what it missed.
 */
import { toMilliseconds } from '../lib/clock.ts';
import type { WebDeps } from './deps.ts';
import type { ExpectedDurations } from './expected-durations.ts';
import { tenantDocuments } from './tenant-documents.ts';

/** How long changes are gathered. */
const GATHER_MS = 100;
/** Updates a returning reader may have missed. */
const KEPT_UPDATES = 200;

export interface Update {
  readonly number: number;
  /** `{"set": {<name>: <document>}, "gone": [<name>], "now": <milliseconds>}`: `now` lets a page run its clocks by ours. */
  readonly data: string;
}

export interface LiveFeed {
  /** The current documents, or what changed since `number` when that is still known. */
  catchUp(
    number: number | null,
  ): Promise<
    | { readonly kind: 'snapshot'; readonly update: Update }
    | { readonly kind: 'missed'; readonly updates: readonly Update[] }
  >;
  /** Called with each update from now on. */
  follow(listener: (update: Update) => void): () => void;
  /** Something may have changed. */
  touch(): void;
  close(): void;
}

type FeedDeps = Pick<WebDeps, 'snapshot' | 'traceUi' | 'log' | 'clock'> & {
  readonly expected: ExpectedDurations;
};

export function liveFeed(deps: FeedDeps, tenant: string): LiveFeed {
  const listeners = new Set<(update: Update) => void>();
  let documents: ReadonlyMap<string, string> = new Map();
  let updates: readonly Update[] = [];
  let number = 0;
  let timer: NodeJS.Timeout | undefined;
  let dirty = true;
  let refreshing: Promise<void> = Promise.resolve();

  async function refresh(): Promise<void> {
    if (!dirty) return;
    dirty = false;
    const fresh = await tenantDocuments(deps, tenant);
    const set = [...fresh].filter(([name, text]) => documents.get(name) !== text);
    const gone = [...documents.keys()].filter(name => !fresh.has(name));
    documents = fresh;
    if (set.length === 0 && gone.length === 0) return;
    number += 1;
    const update = { number, data: eventText(set, gone) };
    updates = [...updates, update].slice(-KEPT_UPDATES);
    for (const listener of listeners) listener(update);
  }

  function eventText(set: readonly (readonly [string, string])[], gone: readonly string[]): string {
    const now = Math.round(toMilliseconds(deps.clock.now()));
    return `{"set":${objectText(set)},"gone":${JSON.stringify(gone)},"now":${now}}`;
  }

  /** One refresh after the other; a failed one leaves the feed dirty for the next. */
  function refreshed(): Promise<void> {
    refreshing = refreshing.then(refresh).catch((error: unknown) => {
      dirty = true;
      deps.log.warn({ tenant, error }, 'the live view could not be brought up to date');
    });
    return refreshing;
  }

  return {
    async catchUp(since) {
      await refreshed();
      const oldest = updates[0]?.number ?? number + 1;
      if (since !== null && since <= number && since >= oldest - 1) {
        return { kind: 'missed', updates: updates.filter(update => update.number > since) };
      }
      return {
        kind: 'snapshot',
        update: { number, data: eventText([...documents], []) },
      };
    },
    follow(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    touch() {
      dirty = true;
      if (listeners.size === 0 || timer !== undefined) return;
      timer = setTimeout(() => {
        timer = undefined;
        void refreshed();
      }, GATHER_MS);
    },
    close: () => clearTimeout(timer),
  };
}

function objectText(entries: readonly (readonly [string, string])[]): string {
  return `{${entries.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}
