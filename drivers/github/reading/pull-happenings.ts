/**
 * What happened to a pull request between two readings, as events that triggers match. Pure: memory and reading in, events out,
 * in an order that makes sense to a reader. The notification only says who did it; what it says happened is believed when the
 * reading shows it, or when no reading can (a comment).
 *
 * So a lost, doubled, late or swapped webhook ends in the same state: what it would have reported is found by the next reading.
 */
import { type Nanoseconds, toMilliseconds } from '../../../src/lib/clock.ts';
import type { ContextFact } from '../facts.ts';
import type { Notification, PullAbout } from '../intake/notification.ts';
import type { GithubActor, GithubEventFacts } from '../language/event-facts.ts';
import { loginOf, reviewFact } from './pull-facts.ts';
import { contextDigest, isDone, type PullMemory, reviewDigest, stateDigest } from './pull-memory.ts';
import { nodesOf, type ReviewNode } from './query/pull-state.ts';
import type { PullReading } from './read-pull.ts';

/** One event in the making. */
export interface PullHappening {
  readonly type: 'pull_request' | 'pull_request_review' | 'check_run';
  readonly facts: GithubEventFacts;
}

/** A notification about the pull request itself, or about its head. */
export type PullHint = Pick<Notification, 'event' | 'action' | 'actor'> & {
  readonly about: Notification['about'] | PullAbout;
};

/** Events of one reading, so that all of them fit into one commit of the store. */
const MOST_CHANGES = 60;
const MOST_CONTEXTS = 30;

/** What one reading shows. */
interface PullHappenings {
  readonly happenings: readonly PullHappening[];
  /** Contexts that are to be reported with the next reading. */
  readonly rest: readonly ContextFact[];
}

/** @param before as {@link baseline} gives it: undefined for a pull request that is new. */
export function pullHappenings(
  before: PullMemory | undefined,
  now: PullMemory,
  reading: PullReading,
  hint: PullHint,
): PullHappenings {
  const by = (action: string): GithubActor | null =>
    hint.action === action ? { login: hint.actor, permission: null } : null;
  const contexts = changedContexts(before, now, reading.contexts);
  const changes = [
    ...lifeHappenings(before, now, hint, by),
    ...(before === undefined ? [] : editHappenings(before, now, by)),
    ...labelHappenings(before, now, by),
    ...reviewHappenings(before, reading, by),
    ...deedHappenings(before, hint),
  ];
  const reported = contexts
    .slice(0, MOST_CONTEXTS)
    .flatMap(context => contextEvent(context, reading.us) ?? []);
  return {
    happenings: [...changes.slice(0, MOST_CHANGES), ...reported],
    rest: contexts.slice(MOST_CONTEXTS),
  };
}

type By = (action: string) => GithubActor | null;

/** `announced` of the memory: an `opened` that comes late, behind the first reading, is reported once. */
function lifeHappenings(
  before: PullMemory | undefined,
  now: PullMemory,
  hint: PullHint,
  by: By,
): readonly PullHappening[] {
  const plain = (action: 'opened' | 'changed' | 'closed' | 'reopened', actor: GithubActor | null) => ({
    type: 'pull_request' as const,
    facts: { action, actor },
  });
  const isOpen = now.status === 'open';
  if (before === undefined) return isOpen ? [plain('opened', by('opened'))] : [];
  if (!isOpen) return before.status === 'open' ? [plain('closed', by('closed'))] : [];
  if (before.status !== 'open') return [plain('reopened', by('reopened'))];
  if (!before.announced && isOpening(hint)) return [plain('opened', by('opened'))];
  if (before.head !== now.head) return [plain('changed', by('synchronize'))];
  return before.base === now.base ? [] : [plain('changed', by('edited'))];
}

function isOpening({ action, about }: PullHint): boolean {
  return action === 'opened' || (about.kind === 'pull' && about.isNew === true);
}

function editHappenings(before: PullMemory, now: PullMemory, by: By): readonly PullHappening[] {
  const edited = (['title', 'body', 'base'] as const).filter(field => before[field] !== now[field]);
  const happenings: PullHappening[] = [];
  if (edited.length > 0)
    happenings.push({ type: 'pull_request', facts: { action: 'edited', edited, actor: by('edited') } });
  if (before.draft !== now.draft) {
    const action = now.draft ? 'converted_to_draft' : 'ready_for_review';
    happenings.push({ type: 'pull_request', facts: { action, actor: by(action) } });
  }
  return happenings;
}

function labelHappenings(before: PullMemory | undefined, now: PullMemory, by: By): readonly PullHappening[] {
  const [old, present] = [new Set(before?.labels), new Set(now.labels)];
  const labels = (action: 'labeled' | 'unlabeled', names: readonly string[]) =>
    names.map(
      (label): PullHappening => ({ type: 'pull_request', facts: { action, label, actor: by(action) } }),
    );
  return [
    ...labels(
      'labeled',
      [...present].filter(name => !old.has(name)),
    ),
    ...labels(
      'unlabeled',
      [...old].filter(name => !present.has(name)),
    ),
  ];
}

function reviewHappenings(
  before: PullMemory | undefined,
  { pull }: PullReading,
  by: By,
): readonly PullHappening[] {
  const known = new Set(before?.reviews);
  const reviews = nodesOf(pull.latestOpinionatedReviews);
  const dismissed: PullHappening = {
    type: 'pull_request_review',
    facts: { action: 'dismissed', state: 'dismissed', actor: by('dismissed') },
  };
  // A dismissed review is either listed as such or not listed any more.
  const isFewer = before !== undefined && reviews.length < before.reviews.length;
  const present = reviews.flatMap((review): readonly PullHappening[] => {
    if (known.has(reviewDigest(review))) return [];
    const fact = reviewFact(review);
    if (fact === undefined) return before === undefined || review.state !== 'DISMISSED' ? [] : [dismissed];
    const actor = { login: fact.by, permission: fact.permission };
    return [{ type: 'pull_request_review', facts: { action: 'submitted', state: fact.state, actor } }];
  });
  return isFewer ? [...present, dismissed] : present;
}

/** What no reading shows: comments, and reviews without an opinion. Each once, whichever delivery brings it. */
function deedHappenings(before: PullMemory | undefined, hint: PullHint): readonly PullHappening[] {
  const { about, actor: login } = hint;
  if (about.kind !== 'pull' || about.once === undefined) return [];
  if (before !== undefined && isDone(before, about.once)) return [];
  const actor = { login, permission: null };
  if (about.comment !== undefined)
    return [{ type: 'pull_request', facts: { action: 'comment', comment: about.comment, actor } }];
  return about.review === 'commented' && hint.action === 'submitted'
    ? [{ type: 'pull_request_review', facts: { action: 'submitted', state: 'commented', actor } }]
    : [];
}

/** Contexts of another head, or with another state than before. */
function changedContexts(
  before: PullMemory | undefined,
  now: PullMemory,
  contexts: readonly ContextFact[],
): readonly ContextFact[] {
  if (now.status !== 'open') return [];
  const known = before?.head === now.head ? before.contexts : undefined;
  return contexts.filter(context => known?.get(contextDigest(context)) !== stateDigest(context));
}

/** Undefined: a check run that goes on. */
function contextEvent(context: ContextFact, us: PullReading['us']): PullHappening | undefined {
  const text = contextText(context);
  const ours = isOurs(context, us) ? { ours: context.name } : {};
  if (context.kind === 'status')
    return {
      type: 'pull_request',
      facts: { action: 'status', status: text, ...ours, actor: { login: context.by, permission: null } },
    };
  if (isContextRunning(context)) return undefined;
  return { type: 'check_run', facts: { action: 'completed', check: text, ...ours, actor: null } };
}

function isOurs({ kind, app, by }: ContextFact, us: PullReading['us']): boolean {
  return kind === 'status' ? by === us.login : us.app !== null && app === us.app.id;
}

/** A check run without conclusion, or a pending status. */
export function isContextRunning({ state }: ContextFact): boolean {
  return RUNNING.has(state);
}

const RUNNING: ReadonlySet<string> = new Set(['queued', 'in_progress', 'pending', 'requested', 'waiting']);

/** `creator:context:state`, as Zuul writes it. */
export function contextText({ by, name, state }: ContextFact): string {
  return `${by}:${name}:${state}`;
}

/**
 * What to compare the first reading with. A pull request that is new is compared with nothing; so is an open one that was made since
 * the repository was first seen: its `opened` was lost, or is late. One that is older than the memory (it was there before this
 * service was, or the memory was lost) is compared with itself less what the notification says.
 */
export function baseline(
  now: PullMemory,
  reading: PullReading,
  hint: PullHint,
  seenSince?: Nanoseconds,
): PullMemory | undefined {
  if (isOpening(hint) || (now.status === 'open' && isMadeSince(reading, seenSince))) return undefined;
  const { about, action } = hint;
  const old = { ...now, announced: false };
  switch (action) {
    case 'synchronize':
      return { ...old, head: '' };
    case 'closed':
      return { ...old, status: 'open' };
    case 'reopened':
      return { ...old, status: 'abandoned' };
    case 'ready_for_review':
      return { ...old, draft: true };
    case 'converted_to_draft':
      return { ...old, draft: false };
    case 'labeled':
      return { ...old, labels: now.labels.filter(name => about.kind !== 'pull' || name !== about.label) };
    case 'submitted':
    case 'dismissed':
      return { ...old, reviews: reviewsOfOthers(reading, hint.actor, about) };
    default:
      return about.kind === 'commit' ? { ...old, contexts: otherContexts(reading, about.context) } : old;
  }
}

/** GitHub's times are whole seconds. */
function isMadeSince({ pull }: PullReading, seenSince: Nanoseconds | undefined): boolean {
  if (seenSince === undefined) return false;
  return Date.parse(pull.createdAt) >= Math.floor(toMilliseconds(seenSince) / 1000) * 1000;
}

function reviewsOfOthers({ pull }: PullReading, login: string, about: PullHint['about']): readonly string[] {
  const isHinted = ({ author, state }: ReviewNode) =>
    about.kind === 'pull' &&
    state.toLowerCase() === about.review &&
    (state === 'DISMISSED' || loginOf(author) === login);
  return nodesOf(pull.latestOpinionatedReviews)
    .filter(review => !isHinted(review))
    .map(reviewDigest);
}

function otherContexts({ contexts }: PullReading, name: string | undefined): PullMemory['contexts'] {
  return new Map(
    contexts
      .filter(context => context.name !== name)
      .map(context => [contextDigest(context), stateDigest(context)]),
  );
}
