/**
 * One event of Gerrit's stream or of its webhooks plug-in → what has to be read, or why it is of no interest. Pure.
 *
 *     a change     patchset-created, comment-added, change-merged, vote-deleted, … → { kind: 'change', number, patchset }
 *     a ref        ref-updated, batch-ref-updated of branches and tags             → { kind: 'ref', ref, before, after }
 *     a project    project-created, project-head-updated                           → { kind: 'project' }
 *
 * Gerrit keeps changes, accounts and groups in git itself: each vote also moves a ref, which announces nothing that its own event does
 * not. `cheap-drop.ts` drops most of them unparsed.
 */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import { fromMilliseconds, type Nanoseconds } from '../../../src/lib/clock.ts';
import type { Json } from '../../../src/model/job.ts';
import type { FoundBy, GerritNotification } from './notification.ts';

/** What becomes of one event. */
export type GerritReduction =
  | {
      readonly kind: 'notifications';
      /** Not empty; more than one only for `batch-ref-updated`. */
      readonly notifications: readonly GerritNotification[];
      /** By Gerrit's clock, to the second; null: the event does not say. */
      readonly madeAt: Nanoseconds | null;
    }
  | { readonly kind: 'ignored'; readonly reason: string }
  /** Not what Gerrit sends. */
  | { readonly kind: 'broken'; readonly reason: string };

type Fields = { readonly [name: string]: Json };
type About = GerritNotification['about'];

/** Of a project or ref, in characters. */
const LONGEST_NAME = 500;
/** Refs of one `batch-ref-updated`: Gerrit sends them for one push. */
const MOST_REFS = 1_000;
/** Seconds; year 2286. */
const LATEST = 1e10;

/** Events about a change after which it is read. `reviewer-added` may make a private change visible to us. */
const CHANGE_EVENTS = new Set([
  'patchset-created',
  'draft-published',
  'comment-added',
  'change-merged',
  'merge-failed',
  'change-abandoned',
  'change-restored',
  'change-deleted',
  'vote-deleted',
  'reviewer-added',
  'reviewer-deleted',
  'hashtags-changed',
  'topic-changed',
  'wip-state-changed',
  'private-state-changed',
  'pending-check',
]);

const PROJECT_EVENTS = new Set(['project-created', 'project-head-updated']);

/** @param event as parsed. */
export function reduceGerritEvent(event: Json, foundBy: FoundBy): GerritReduction {
  if (!isMapping(event) || typeof event.type !== 'string')
    return { kind: 'broken', reason: 'it is no JSON object with a type' };
  const { type } = event;
  if (CHANGE_EVENTS.has(type)) return reduceChange(type, event, foundBy);
  if (type === 'ref-updated') return reduceRefs(type, event, [event.refUpdate ?? null], foundBy);
  if (type === 'batch-ref-updated') {
    const updates = Array.isArray(event.refUpdates) ? event.refUpdates : [];
    return reduceRefs(type, event, updates.slice(0, MOST_REFS), foundBy);
  }
  if (PROJECT_EVENTS.has(type)) {
    const project = name(event.projectName);
    if (project === undefined) return broken(type, 'projectName');
    return reduced(type, foundBy, event, [{ project, about: { kind: 'project' } }]);
  }
  return { kind: 'ignored', reason: `event ${JSON.stringify(type.slice(0, 60))} is of no interest` };
}

function reduceChange(type: string, event: Fields, foundBy: FoundBy): GerritReduction {
  const change: Fields = isMapping(event.change) ? event.change : {};
  const number = positive(change.number);
  if (number === undefined) return broken(type, 'change.number');
  const project = name(change.project) ?? name(event.project);
  if (project === undefined) return broken(type, 'change.project');
  const patchSet: Fields = isMapping(event.patchSet) ? event.patchSet : {};
  const about: About = {
    kind: 'change',
    number,
    patchset: positive(patchSet.number) ?? null,
    ...(type === 'change-deleted' ? { isDeleted: true } : {}),
  };
  return reduced(type, foundBy, event, [{ project, about }]);
}

function reduceRefs(
  type: string,
  event: Fields,
  updates: readonly Json[],
  foundBy: FoundBy,
): GerritReduction {
  const found: { readonly project: string; readonly about: About }[] = [];
  for (const update of updates) {
    const fields: Fields = isMapping(update) ? update : {};
    const project = name(fields.project) ?? name(event.project);
    const written = name(fields.refName);
    if (project === undefined || written === undefined) return broken(type, 'refUpdate');
    const about = refAbout(written, fields);
    if (about !== undefined) found.push({ project, about });
  }
  if (found.length > 0) return reduced(type, foundBy, event, found);
  return updates.length === 0
    ? broken(type, 'refUpdates')
    : { kind: 'ignored', reason: 'the ref is neither a branch nor a tag' };
}

/** Undefined: Gerrit's own ref. Old versions leave `refs/heads/` out. */
function refAbout(written: string, { oldRev, newRev }: Fields): About | undefined {
  if (written === 'HEAD') return { kind: 'project' };
  const ref = written.startsWith('refs/') ? written : `refs/heads/${written}`;
  if (!/^refs\/(heads|tags)\/./.test(ref)) return undefined;
  return { kind: 'ref', ref, before: tip(oldRev), after: tip(newRev) };
}

function reduced(
  event: string,
  foundBy: FoundBy,
  { eventCreatedOn }: Fields,
  found: readonly { readonly project: string; readonly about: About }[],
): GerritReduction {
  const seconds = typeof eventCreatedOn === 'number' ? eventCreatedOn : 0;
  return {
    kind: 'notifications',
    notifications: found.map(({ project, about }) => ({ event, foundBy, project, about })),
    madeAt: seconds > 0 && seconds < LATEST ? fromMilliseconds(seconds * 1000) : null,
  };
}

function broken(type: string, field: string): GerritReduction {
  return { kind: 'broken', reason: `${type} has no valid ${field}` };
}

/** A project or ref: Gerrit takes no control characters in them. */
function name(value: Json | undefined): string | undefined {
  if (typeof value !== 'string' || value === '' || value.length > LONGEST_NAME) return undefined;
  return value.isWellFormed() && !/\p{Cc}/u.test(value) ? value : undefined;
}

/** Old versions send numbers as text. */
function positive(value: Json | undefined): number | undefined {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

function tip(value: Json | undefined): string | null {
  const isCommit = typeof value === 'string' && /^(?!0+$)([0-9a-f]{40}|[0-9a-f]{64})$/.test(value);
  return isCommit ? value : null;
}
