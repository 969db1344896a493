/**
 * What triggers look at in an event besides its type, branch and ref: `TriggerEvent.facts` of this driver.
 *
 * The event's type is Zuul's: `pull_request`, `pull_request_review`, `check_run`, `push`, and our own `merge_group`. One event has
 * one action; a pull request that got a label and a new commit is two events.
 *
 *     type pull_request         { action: 'labeled', label: 'gate', actor: { login: 'bob', permission: 'write' } }
 *     type pull_request         { action: 'status', status: 'ci-bot:build:success', actor: null }
 *     type check_run            { action: 'rerequested', check: 'gatehouse:acme/check:failure', actor: … }
 */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { Json } from '../../../src/model/job.ts';
import type { Permission } from '../facts.ts';

/** Who did it; `permission` is null where it was not read. */
export type GithubActor = { readonly login: string; readonly permission: Permission | null };

/** Null: GitHub does not say who, or the change was found without a delivery. */
type ByActor = { readonly actor: GithubActor | null };

/** Name of the status or check run, where this connection made it: `acme/gate`. Absent: another did. */
type ByUs = { readonly ours?: string };

/** Actions of `pull_request` that carry nothing else. `changed`: the head is another commit. */
type PlainAction =
  | 'opened'
  | 'changed'
  | 'closed'
  | 'reopened'
  | 'ready_for_review'
  | 'converted_to_draft'
  /** Of `push`: a branch or tag was created, moved or deleted; the change says which. */
  | 'push'
  /** Of `merge_group`. */
  | 'checks_requested';

/** Facts of one event. */
export type GithubEventFacts = ByActor &
  (
    | { readonly action: PlainAction }
    /** At most 4096 characters. */
    | { readonly action: 'comment'; readonly comment: string }
    | { readonly action: 'labeled' | 'unlabeled'; readonly label: string }
    /** What of the pull request was edited. */
    | { readonly action: 'edited'; readonly edited: readonly ('title' | 'body' | 'base')[] }
    /** A commit status of the head: `creator:context:state`. */
    | (ByUs & { readonly action: 'status'; readonly status: string })
    /** Of `pull_request_review`. */
    | {
        readonly action: 'submitted' | 'dismissed';
        readonly state: 'approved' | 'changes_requested' | 'commented' | 'dismissed' | 'pending';
      }
    /** Of `check_run`: `app:name:conclusion`, of a run without conclusion its status. */
    | (ByUs & { readonly action: 'rerequested' | 'completed'; readonly check: string })
  );

/** @param facts of an event of this driver. @throws Error for any other. */
export function readGithubEventFacts(facts: Json): GithubEventFacts {
  if (!isMapping(facts) || typeof facts.action !== 'string')
    throw new Error('these are no facts of a GitHub event');
  return facts as GithubEventFacts;
}
