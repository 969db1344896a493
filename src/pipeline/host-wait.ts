/**
 * Waiting for a code host. A failure of the host is never a verdict: the item stays where it is, in state `host`, and what
 * failed is tried again, ever more rarely.
 *
 *     merge    403   → host, asked again after 1 s, 2 s, 4 s, ... 30 s
 *     another item of the project meanwhile → host as well, without asking: one item asks for all
 *     merge    done  → all items of the project go on in this turn
 *
 * What is known of a project's host is on the items that wait for it, so that the next holder of the pipeline knows it, too.
 * Reading (merges) and writing (landing, notes) are apart: a host may refuse the one and serve the other.
 */
import { addMilliseconds, earlierOf, laterOf, millisecondsBetween, type Nanoseconds } from '../lib/clock.ts';
import { durationText } from '../lib/duration-text.ts';
import type { Uuid } from '../lib/ids.ts';
import { aboutItem, changesText } from '../model/about-item.ts';
import type { HostTrouble, HostWait, HostWork } from '../model/host-trouble.ts';
import type { ProjectKey } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { isAsking, isShared, keyOf, type Parked, parkedProjects } from './parked-projects.ts';
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
 * Whether the item may ask the host now; if so it is the one that asks for all who wait for the same.
 *
 * Call once everything else says that it should.
 */
export function mayAskHost(draft: TurnDraft, item: QueueItem, doing: HostWork): boolean {
  const own = ownWait(item, doing);
  const { now } = draft.input;
  if (own !== undefined && !isShared(own)) return isDue(own, now);
  const parked = parkedOf(draft, item, doing);
  if (hasLandedAnyway(draft, item) && doing === 'report') return true;
  if (parked.some(({ wait, asked }) => asked || !isDue(wait, now))) return false;
  for (const each of parked) each.asked = true;
  return true;
}

/** For whose trouble the item does not do its next step; null: for none. */
export function heldByHost(draft: TurnDraft, item: QueueItem, doing: HostWork): HostWait | null {
  const own = ownWait(item, doing);
  if (own !== undefined || isAsking(item, doing)) return own ?? null;
  return parkedOf(draft, item, doing)[0]?.wait ?? null;
}

function ownWait({ hostWait }: QueueItem, doing: HostWork): HostWait | undefined {
  return hostWait?.doing === doing ? hostWait : undefined;
}

function parkedOf(draft: TurnDraft, item: QueueItem, doing: HostWork): readonly Parked[] {
  if (draft.parked.size === 0) return [];
  const own = ownWait(item, doing);
  const projects = new Set(item.changes.map(change => change.project));
  if (own !== undefined) projects.add(own.project);
  return [...projects].flatMap(project => draft.parked.get(keyOf(doing, project)) ?? []);
}

/** It waits to land, and the host says it has: the reply of our push was lost, and asking again will find it done. */
export function hasLandedAnyway(draft: TurnDraft, item: QueueItem): boolean {
  return (
    item.hostWait?.doing === 'report' &&
    item.changes.some(({ key }) => draft.facts(key)?.record.status === 'merged')
  );
}

/** Milliseconds that an item whose project has gone waits for its host to say whether it landed; then it leaves. */
const LONGEST_QUESTION_MS = 5 * 60_000;

/** A landing of it was sent, or the host says that it has landed, and the host is still to be asked what is so. */
export function isUnsettled(draft: TurnDraft, item: QueueItem): boolean {
  const wait = ownWait(item, 'report');
  if (wait === undefined || millisecondsBetween(wait.since, draft.input.now) > LONGEST_QUESTION_MS)
    return false;
  return wait.unsettled === true || hasLandedAnyway(draft, item);
}

/** The item with its wait begun, or gone on with. */
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
  // Many that were asked for before anybody knew fail together: that is one failure.
  const noted = own === undefined ? others.find(other => !isDue(other, now)) : undefined;
  const tries = noted?.tries ?? Math.max(own?.tries ?? 0, ...others.map(other => other.tries)) + 1;
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
  return { ...bounded(item), hostWait: { ...wait, ...named, tries, retryAt } };
}

/** Tries of one kind kept on an item: the first few and the last few. The spans of all were drawn when each ended. */
const TRIES_KEPT = { first: 5, last: 15 };

/** An outage of days must not make a record that no store takes. */
function bounded(item: QueueItem): QueueItem {
  const { buildset } = item;
  const mergerWork = thinned(buildset.mergerWork, ({ done }) => done?.outcome === 'failed');
  const reports = thinned(
    item.reports,
    ({ done }) => done?.parts.some(({ reason }) => reason === 'host') === true,
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

/** Also when the clock was set back and the time lies further ahead than anything ever waits. */
export function isDue({ doing, retryAt, notBefore }: HostWait, now: Nanoseconds): boolean {
  const ahead = millisecondsBetween(now, retryAt);
  return ahead <= 0 || ahead > (notBefore === undefined ? LONGEST_MS[doing] : LONGEST_NAMED_MS);
}

/** When the host says it serves again, within reason. */
function namedBy({ notBefore }: HostTrouble, now: Nanoseconds): Nanoseconds {
  return notBefore === undefined ? now : earlierOf(notBefore, addMilliseconds(now, LONGEST_NAMED_MS));
}

/** Milliseconds after failure number `tries` in a row. */
function delayMs(doing: HostWork, tries: number): number {
  return Math.min(LONGEST_MS[doing], FIRST_MS * 2 ** Math.min(tries - 1, 20));
}

/** The host has served these projects: whoever waited for that goes on. */
export function hostServed(draft: TurnDraft, doing: HostWork, projects: ReadonlySet<ProjectKey>): void {
  for (const item of [...draft.items()]) {
    const wait = ownWait(item, doing);
    if (wait !== undefined && isShared(wait) && projects.has(wait.project))
      draft.put(withoutWait(draft, item));
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

/** The next time after the last look at which an item is to ask; null: none waits for a time to come. */
export function nextHostRetry(items: Iterable<QueueItem>, lookedAt: Nanoseconds): Nanoseconds | null {
  let next: Nanoseconds | null = null;
  for (const { hostWait } of items) {
    if (hostWait === undefined || millisecondsBetween(lookedAt, hostWait.retryAt) <= 0) continue;
    next = next === null ? hostWait.retryAt : earlierOf(next, hostWait.retryAt);
  }
  return next;
}

/**
 * A host was due to be asked at the last look, and no item asks it: in the turn that looked, the item that asked for all left, or was
 * reset. One more turn finds the next one.
 */
export function isHostUnasked(items: Iterable<QueueItem>, lookedAt: Nanoseconds): boolean {
  return [...parkedProjects(items).values()].some(({ wait, asked }) => !asked && isDue(wait, lookedAt));
}
