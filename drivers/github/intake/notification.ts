/**
 * What is kept of a webhook: which thing to read at GitHub, who did it, and what reading cannot give (a comment's text). The
 * payload of a stored `ConnectionEvent`, at most 4 KB.
 *
 *     { event: 'issue_comment', action: 'created', repository: 'acme/app', installation: 7, actor: 'bob', at: 1795000000000,
 *       about: { kind: 'pull', number: 12, comment: 'recheck', once: 'comment-991', ... } }
 */
import type { Json } from '../../../src/model/job.ts';

/** Bytes of its JSON. */
export const MOST_NOTIFICATION_BYTES = 4_096;

/** What a notification is about. */
export type NotificationAbout =
  | PullAbout
  | CommitAbout
  | RerunAbout
  | ButtonAbout
  | RefAbout
  | MergeGroupAbout
  /** Branch protection or a ruleset differs. `after` continues the list of pull requests at `page`. */
  | { readonly kind: 'rules'; readonly after?: string; readonly page?: number }
  /** Renamed, transferred, archived, deleted, another default branch. `formerName`: `owner/name` before. */
  | { readonly kind: 'repository'; readonly formerName?: string }
  /** Repositories were added to the App's installation or taken from it; it was suspended, removed or came back. */
  | { readonly kind: 'installation' };

/** A pull request. */
export interface PullAbout {
  readonly kind: 'pull';
  readonly number: number;
  /** `updated_at` of the pull request in the webhook, in milliseconds: an older answer of the API is stale. */
  readonly updatedAt?: number;
  /** Its base branch in the webhook, a hint: it may have been retargeted since. Absent: not in the webhook, or very long. */
  readonly base?: string;
  /** It was merged, and this was its head. */
  readonly mergedHead?: string;
  /** Text of a new comment, cut. */
  readonly comment?: string;
  /** Database id of that comment. */
  readonly commentId?: number;
  /** Label that was added or removed. */
  readonly label?: string;
  /** A submitted or dismissed review: `approved`, `changes_requested`, `commented`, `dismissed`. */
  readonly review?: string;
  /** Identity of the deed: the same under another delivery id is processed once. */
  readonly once?: string;
  /** Of a listing of pull requests: it was created since the listing before. */
  readonly isNew?: boolean;
}

/** A status or check run of a commit changed. */
export interface CommitAbout {
  readonly kind: 'commit';
  readonly commit: string;
  /** Context of the status, or name of the check run: an answer without it is stale. */
  readonly context?: string;
  /** Database id of the check run that ended; an answer in which it still runs is stale. */
  readonly completedRun?: number;
}

/** A check run of ours, or our check suite, was requested again. */
export interface RerunAbout {
  readonly kind: 'rerun';
  readonly commit: string;
  /** Our App. */
  readonly app: number;
  /** Name of the check run; absent: all of the suite. */
  readonly run?: string;
  readonly externalId?: string;
  readonly once?: string;
}

/** The button of a check run of ours. */
export interface ButtonAbout {
  readonly kind: 'button';
  readonly commit: string;
  /** As given to GitHub with the button, e.g. `dequeue`. */
  readonly identifier: string;
  readonly run: string;
  readonly externalId: string | null;
  /** Branch or tag that the commit was pushed to, as GitHub names it; absent: of a fork, or not known. */
  readonly branch?: string;
}

/** A branch or tag moved. */
export interface RefAbout {
  readonly kind: 'ref';
  readonly ref: string;
  /** Null: it was created. */
  readonly before: string | null;
  /** Null: it was deleted. */
  readonly after: string | null;
}

/** A group of GitHub's own merge queue. */
export interface MergeGroupAbout {
  readonly kind: 'merge-group';
  readonly ref: string;
  readonly head: string;
  readonly baseRef: string;
  readonly base: string;
}

/** A reduced webhook, or what a sweep found. */
export interface Notification {
  /** GitHub's event name; `sweep`: found by a listing. */
  readonly event: string;
  /** Empty: the event has none. */
  readonly action: string;
  /** `owner/name`; empty: of an installation. */
  readonly repository: string;
  readonly installation: number | null;
  /** Login; `ghost`: the account was deleted. */
  readonly actor: string;
  /** When it happened at GitHub, in milliseconds since 1970; null: the payload does not say. */
  readonly at: number | null;
  readonly about: NotificationAbout;
}

/** @returns undefined: not in the form that {@link Notification} has. The store keeps what intake or sweep made, unchanged. */
export function readGithubNotification(payload: Json): Notification | undefined {
  if (!isObject(payload) || !isObject(payload.about)) return undefined;
  const { event, action, repository, actor } = payload;
  const texts = [event, action, repository, actor].every(each => typeof each === 'string');
  const kind = String(payload.about.kind);
  const check = Object.hasOwn(CHECKS, kind) ? CHECKS[kind] : undefined;
  if (!texts || check === undefined || !check(payload.about)) return undefined;
  return payload as object as Notification;
}

/** In the form that {@link readGithubNotification} reads. */
export function notificationJson(notification: Notification): Json {
  return JSON.parse(JSON.stringify(notification));
}

type Fields = { readonly [name: string]: Json };

const CHECKS: { readonly [kind: string]: (about: Fields) => boolean } = {
  pull: ({ number }) => Number.isSafeInteger(number),
  commit: ({ commit }) => isCommit(commit),
  rerun: ({ commit, app }) => isCommit(commit) && typeof app === 'number',
  button: ({ commit, identifier, run }) =>
    isCommit(commit) && typeof identifier === 'string' && typeof run === 'string',
  ref: ({ ref, before, after }) => typeof ref === 'string' && isTip(before) && isTip(after),
  'merge-group': ({ ref, head, baseRef, base }) =>
    typeof ref === 'string' && isCommit(head) && typeof baseRef === 'string' && isCommit(base),
  rules: () => true,
  repository: () => true,
  installation: () => true,
};

function isTip(value: Json | undefined): boolean {
  return value === null || isCommit(value);
}

function isCommit(value: Json | undefined): boolean {
  return typeof value === 'string' && /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(value);
}

function isObject(value: Json | undefined): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
