/**
 * Lines of the stream → events in the store.
 *
 * Lines of projects that no tenant has end here, most of them unparsed. Up to 32 events are handed to the store at a time; more lines wait
 * at Gerrit. A line equal to one that is still being stored says nothing new; an equal line later may: Gerrit's times are whole seconds.
 */
import type { NewConnectionEvent, Watch } from '../../../src/driver/intake.ts';
import { sha256 } from '../../../src/lib/ids.ts';
import type { Json } from '../../../src/model/job.ts';
import type { ChangeInfo } from '../api/change-info.ts';
import { isDroppedUnparsed } from '../intake/cheap-drop.ts';
import { type GerritNotification, gerritNotificationJson } from '../intake/notification.ts';
import { type GerritReduction, reduceGerritEvent } from '../intake/reduce.ts';

/** Of one listener. */
export interface Announced {
  line(text: string): Promise<void>;
  /** Aborted when the store did not take an event, which has to be looked up; until {@link Announced.forget}. */
  failed(): AbortSignal;
  /** Resolves when no event waits for the store any more. */
  settled(): Promise<void>;
  /** Whether the stream announced an update of the change at this time or later, since {@link Announced.forget}. */
  isAnnounced(info: ChangeInfo): boolean;
  /** What was announced before may have been lost. */
  forget(): void;
}

export interface AnnouncedDeps {
  readonly emit: Watch['emit'];
  /** Whether any tenant has the project. */
  readonly isWatched: (project: string) => boolean;
  readonly stored: (notification: GerritNotification) => void;
  /** A line that is none of Gerrit's. */
  readonly garbage: (reason: string) => void;
}

const AT_ONCE = 32;
const MOST_REMEMBERED = 2_000;

export function createAnnounced(deps: AnnouncedDeps): Announced {
  const storing = new Map<string, Promise<void>>();
  /** Line → how often it came. */
  const lines = new Map<string, number>();
  /** Change → seconds. */
  const updates = new Map<number, number>();
  let failure = new AbortController();

  function store(id: string, event: NewConnectionEvent, notification: GerritNotification): void {
    const done = deps.emit(event).then(
      () => deps.stored(notification),
      error => failure.abort(error),
    );
    storing.set(
      id,
      done.finally(() => storing.delete(id)),
    );
  }

  function announce(text: string, reduction: Extract<GerritReduction, { kind: 'notifications' }>): void {
    const digest = sha256(text).slice(0, 32);
    const { madeAt } = reduction;
    for (const [index, notification] of reduction.notifications.entries()) {
      const { about, project, event } = notification;
      const id = `${digest}-${index}`;
      if (!deps.isWatched(project) || storing.has(id)) continue;
      const times = (lines.get(id) ?? 0) + 1;
      remember(lines, id, times);
      if (about.kind === 'change' && madeAt !== null)
        remember(updates, about.number, Number(BigInt(madeAt) / 1_000_000_000n));
      const payload = gerritNotificationJson(notification);
      const deliveryId = `stream-${id}${times > 1 ? `-${times}` : ''}`;
      const delivery = { deliveryId, type: event, foundBy: 'stream', payload };
      store(id, { ...delivery, ...(madeAt === null ? {} : { madeAt }) }, notification);
    }
  }

  return {
    failed: () => failure.signal,
    async line(text) {
      if (isDroppedUnparsed(text, deps.isWatched)) return;
      const event = parsed(text);
      const reduction: GerritReduction =
        event === undefined
          ? { kind: 'broken', reason: 'it is no JSON' }
          : reduceGerritEvent(event, 'stream');
      if (reduction.kind === 'broken') deps.garbage(reduction.reason);
      if (reduction.kind !== 'notifications') return;
      announce(text, reduction);
      if (storing.size >= AT_ONCE) await Promise.race(storing.values());
    },
    async settled() {
      while (storing.size > 0) await Promise.all(storing.values());
    },
    isAnnounced({ number, updatedAt }) {
      const seconds = updates.get(number);
      return seconds !== undefined && BigInt(seconds) >= BigInt(updatedAt) / 1_000_000_000n;
    },
    forget() {
      updates.clear();
      failure = new AbortController();
    },
  };
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function remember<K, V>(map: Map<K, V>, key: K, value: V): void {
  map.delete(key);
  map.set(key, value);
  const [first] = map.keys();
  if (map.size > MOST_REMEMBERED && first !== undefined) map.delete(first);
}
