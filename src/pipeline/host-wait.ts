/**
 * Waiting for a code host. A failure of the host is never a verdict: the item stays where it is, in state `host`, and the step that
 * failed is retried with growing pauses.
 *
 *     merge    403   → host, asked again after 1 s, 2 s, 4 s, ... 30 s
 *     another item of the project meanwhile → host as well, without asking: one item asks for all
 *     merge    done  → all items of the project go on in this turn
 *     build          → each item asks for itself, since executors differ; one that gets its commits lets the others try at once
 *
 * The trouble of a host is recorded on the items that wait for it, so that the next holder of the pipeline has it, too. Reads
 * (merges) and writes (landings, comments) are apart: a host may refuse the one and serve the other.
 */
import { addMilliseconds, earlierOf, laterOf, millisecondsBetween, type Nanoseconds } from '../lib/clock.ts';
import { durationText } from '../lib/duration-text.ts';
import type { Uuid } from '../lib/ids.ts';
import { aboutItem, changesText } from '../model/about-item.ts';
import type { HostTrouble, HostWait, HostWork } from '../model/host-trouble.ts';
import type { ProjectKey } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import {
  isAsking,
  isShared,
  keyOf,
  type Parked,
  type ParkedProjects,
  parkedProjects,
} from './parked-projects.ts';
import type { TurnDraft } from './turn-draft.ts';

const FIRST_MS = 1_000;
const LONGEST_MS: { readonly [doing in HostWork]: number } = {
  merge: 30_000,
  report: 30_000,
  // Each try is a build of its own, with a log.
  build: 300_000,
};

/** A limit that the host names is kept, up to an hour. */
const LONGEST_NAMED_MS = 3_600_000;

/**
 * Whether the item may ask the host now; if so, it asks for all items that wait for the same.
 *
 * Call when all other conditions are met.
 */
export function mayAskHost(draft: TurnDraft, item: QueueItem, doing: HostWork): boolean {
  const own = ownWait(item, doing);
  if (own !== undefined && !isShared(own)) return isDue(own, draft.input.now);
  if (hasLandedAnyway(draft, item) && doing === 'report') return true;
  const parked = parkedOf(draft.parked, item, doing);
  if (!parked.every(each => isFree(draft, each, item))) {
    draft.turnedAway.set(item.uuid, doing);
    return false;
  }
  for (const each of parked) each.askers.push(item.uuid);
  return true;
}

/**
 * An item that was turned away in this pass may ask by now: later in the pass, the item that asked on behalf of all, or the one whose
 * wait was not over, has left, was reset, or needs the host no more.
 */
export function isHostUnasked(draft: TurnDraft): boolean {
  if (draft.turnedAway.size === 0) return false;
  const parked = parkedProjects(draft.items());
  for (const [uuid, doing] of draft.turnedAway) {
    const item = draft.item(uuid);
    if (item !== undefined && parkedOf(parked, item, doing).every(each => isFree(draft, each, item)))
      return true;
  }
  return false;
}

/** No pause is to be kept and no item asks; an asker may have left in this turn, or have been reset. @param present the item in hand. */
function isFree(draft: TurnDraft, { wait, askers }: Parked, present: QueueItem): boolean {
  const asks = (uuid: Uuid) => {
    const asker = present.uuid === uuid ? present : draft.item(uuid);
    return asker !== undefined && isAsking(asker, wait.doing);
  };
  return isDue(wait, draft.input.now) && !askers.some(asks);
}

/** The host trouble that keeps the item from its next step; null: none. */
export function heldByHost(draft: TurnDraft, item: QueueItem, doing: HostWork): HostWait | null {
  const own = ownWait(item, doing);
  if (own !== undefined || isAsking(item, doing)) return own ?? null;
  return parkedOf(draft.parked, item, doing)[0]?.wait ?? null;
}

function ownWait({ hostWait }: QueueItem, doing: HostWork): HostWait | undefined {
  return hostWait?.doing === doing ? hostWait : undefined;
}

function parkedOf(parked: ParkedProjects, item: QueueItem, doing: HostWork): readonly Parked[] {
  if (parked.size === 0) return [];
  const own = ownWait(item, doing);
  const projects = new Set(item.changes.map(change => change.project));
  if (own !== undefined) projects.add(own.project);
  return [...projects].flatMap(project => parked.get(keyOf(doing, project)) ?? []);
}

/** It waits to land, and has landed: the reply to our push was lost, and a retry finds it done. */
export function hasLandedAnyway(draft: TurnDraft, item: QueueItem): boolean {
  return (
    item.hostWait?.doing === 'report' &&
    item.changes.some(({ key }) => draft.facts(key)?.record.status === 'merged')
  );
}

/** Milliseconds that an item whose project is gone waits to learn whether it landed; then it leaves. */
const LONGEST_QUESTION_MS = 5 * 60_000;

/** Its landing was sent, or the host reports it as landed, and the outcome is not confirmed. */
export function isUnsettled(draft: TurnDraft, item: QueueItem): boolean {
  const wait = ownWait(item, 'report');
  if (wait === undefined || millisecondsBetween(wait.since, draft.input.now) > LONGEST_QUESTION_MS)
    return false;
  return wait.unsettled === true || hasLandedAnyway(draft, item);
}

/** The item with its wait begun or continued. */
export function waitForHost(
  draft: TurnDraft,
  item: QueueItem,
  doing: HostWork,
  trouble: HostTrouble,
  event: Uuid,
): QueueItem {
  const { now } = draft.input;
  const own = ownWait(item, doing);
  // Builds that begin together fail together: that is one failure.
  if (own !== undefined && !isDue(own, now)) return item;
  const others = [...draft.items()].flatMap(({ uuid, hostWait }) =>
    uuid !== item.uuid &&
    hostWait?.doing === doing &&
    hostWait.project === trouble.project &&
    isShared(hostWait)
      ? [hostWait]
      : [],
  );
  const unsettled = trouble.unsettled === true || own?.unsettled === true;
  const wait = { ...trouble, doing, since: own?.since ?? now, ...(unsettled ? { unsettled } : {}) };
  // Requests that were made together fail together: that is one failure, the first time and at each try after it.
  const noted = others.find(other => !isDue(other, now) && other.tries > (own?.tries ?? 0));
  // Of a merge or a report one item asks for all. Builds ask each for itself: six that fail one after the other failed once each.
  const before = doing === 'build' ? [] : others.map(other => other.tries);
  const tries = noted?.tries ?? Math.max(own?.tries ?? 0, ...before) + 1;
  const usual = addMilliseconds(now, delayMs(doing, tries));
  const retryAt = noted?.retryAt ?? laterOf(usual, namedBy(trouble, now));
  if (own === undefined) {
    const about = aboutItem(item, event);
    draft.decide(
      'waits-for-host',
      about,
      `${changesText(item)} waits for the code host of ${trouble.project} (${trouble.reason}): ${trouble.text}`,
    );
  }
  const named = noted?.notBefore === undefined ? {} : { notBefore: noted.notBefore };
  return { ...withBoundedTries(item), hostWait: { ...wait, ...named, tries, retryAt } };
}

/** Tries of one kind kept on an item: the first few and the last few. The spans of all were exported when each ended. */
const TRIES_KEPT = { first: 5, last: 15 };

/** Keeps the record of an item small during an outage of days. */
export function withBoundedTries(item: QueueItem): QueueItem {
  const { buildset } = item;
  const mergerWork = thinned(buildset.mergerWork, ({ done }) => done?.outcome === 'failed');
  const reports = thinned(
    item.reports,
    ({ done }) =>
      done?.outcome === 'withdrawn' || done?.parts.some(({ reason }) => reason === 'host') === true,
  );
  if (mergerWork === buildset.mergerWork && reports === item.reports) return item;
  return { ...item, buildset: { ...buildset, mergerWork }, reports };
}

/** The same list when it is short. */
function thinned<T>(tries: readonly T[], isFailure: (each: T) => boolean): readonly T[] {
  const failures = tries.filter(isFailure);
  const { first, last } = TRIES_KEPT;
  if (failures.length <= first + last) return tries;
  const dropped = new Set(failures.slice(first, -last));
  return tries.filter(each => !dropped.has(each));
}

/** Also when the clock was set back and the time is further ahead than any wait. */
export function isDue({ doing, retryAt, notBefore }: HostWait, now: Nanoseconds): boolean {
  const ahead = millisecondsBetween(now, retryAt);
  return ahead <= 0 || ahead > (notBefore === undefined ? LONGEST_MS[doing] : LONGEST_NAMED_MS);
}

/** When the host serves again, as it reports; at most an hour ahead. */
function namedBy({ notBefore }: HostTrouble, now: Nanoseconds): Nanoseconds {
  return notBefore === undefined ? now : earlierOf(notBefore, addMilliseconds(now, LONGEST_NAMED_MS));
}

/** Milliseconds after failure number `tries` in a row. */
function delayMs(doing: HostWork, tries: number): number {
  return Math.min(LONGEST_MS[doing], FIRST_MS * 2 ** Math.min(tries - 1, 20));
}

/** The host has served these projects: the items that waited for it go on. Whether one has landed is still to be asked. */
export function hostServed(draft: TurnDraft, doing: HostWork, projects: ReadonlySet<ProjectKey>): void {
  if (!draft.due.mayWaitForHosts) return;
  for (const item of [...draft.items()]) {
    const wait = ownWait(item, doing);
    if (wait === undefined || !isShared(wait) || !projects.has(wait.project)) continue;
    draft.put(
      wait.unsettled === true
        ? { ...item, hostWait: { ...wait, retryAt: draft.input.now } }
        : withoutWait(draft, item),
    );
  }
}

/**
 * A build that began during the trouble had the commits of these projects: the builds that wait for them are tried at once. Each try is a
 * build of its own, and executors may have commits without asking the host: so the waits stay as long as they were.
 */
export function hostServedBuild(
  draft: TurnDraft,
  projects: ReadonlySet<ProjectKey>,
  begunAt: Nanoseconds,
): void {
  if (!draft.due.mayWaitForHosts) return;
  const { now } = draft.input;
  for (const item of [...draft.items()]) {
    const wait = ownWait(item, 'build');
    if (wait === undefined || !isShared(wait) || !projects.has(wait.project)) continue;
    if (isDue(wait, now) || millisecondsBetween(wait.since, begunAt) < 0) continue;
    draft.put({ ...item, hostWait: { ...wait, retryAt: now } });
  }
}

/** The same item when it does not wait. */
export function withoutWait(draft: TurnDraft, item: QueueItem): QueueItem {
  const { hostWait, ...rest } = item;
  if (hostWait === undefined) return item;
  const after = durationText(millisecondsBetween(hostWait.since, draft.input.now));
  draft.decide(
    'host-recovered',
    aboutItem(item),
    `${changesText(item)} goes on: the code host of ${hostWait.project} serves again after ${after}`,
  );
  return rest;
}

/** The first time after `decidedAt` at which an item is to ask; null: none waits for a later time. */
export function nextHostRetry(items: Iterable<QueueItem>, decidedAt: Nanoseconds): Nanoseconds | null {
  let next: Nanoseconds | null = null;
  for (const { hostWait } of items) {
    if (hostWait === undefined || millisecondsBetween(decidedAt, hostWait.retryAt) <= 0) continue;
    next = next === null ? hostWait.retryAt : earlierOf(next, hostWait.retryAt);
  }
  return next;
}
