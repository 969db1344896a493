/** Why an item was tested again, stepped back, or left: one record, from which logs, reports, spans and pages are derived. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { SpanId, TraceId, Uuid } from '../lib/ids.ts';
import type { JobName } from './project.ts';
import type { BuildResult } from './results.ts';

/** Why an item is tested again. */
export type ResetCode =
  /** A voting job of an item ahead failed: everything behind is tested without it. */
  | 'item-ahead-failed'
  | 'item-ahead-conflict'
  | 'item-ahead-misconfigured'
  /** The host refused to merge an item ahead although its tests passed. */
  | 'item-ahead-not-merged'
  /** An item ahead left: abandoned, approval withdrawn, new patchset, dequeued by hand. */
  | 'item-ahead-left'
  /** Another item is directly ahead now. */
  | 'item-ahead-changed'
  /** It was moved to the head of its queue at a person's request, or an item was moved past it. */
  | 'promoted'
  /** A person asked for its failed jobs, or those of an item ahead, to run again. */
  | 'rerun'
  /** Its project, or that of an item ahead, is in another change queue now. */
  | 'queue-changed'
  /** A change this item depends on is failing: its jobs are cancelled and not started again. */
  | 'needed-change-failing'
  /** Another push moved the branch: the tested state is not what would land. */
  | 'base-moved'
  /** The host landed an item ahead with other contents than were tested. */
  | 'landed-tree-differs';

/** The item and build that caused it, as far as known. */
export interface Culprit {
  readonly item: Uuid;
  /** `changeText` of its change(s). */
  readonly change: string;
  readonly buildset?: Uuid;
  readonly build?: Uuid;
  readonly job?: JobName;
  readonly result?: BuildResult;
  /** Why the culprit itself left, when it did. */
  readonly left?: LeaveCode;
}

/** Why a buildset was superseded by a new one. */
export interface ResetCause {
  readonly code: ResetCode;
  readonly at: Nanoseconds;
  /** With `promoted`: the item that was moved past this one, with `rerun`: that counts again; null: this item is meant. */
  readonly culprit: Culprit | null;
  /** With `promoted` and `rerun`: who asked for it. */
  readonly promoter?: Remover;
}

/** Why an item left its pipeline. */
export type LeaveCode =
  /** Reported, with any result. */
  | 'reported'
  /** Its jobs are done, and the tenant is in shadow mode: nothing was written at a host. */
  | 'not-reported'
  | 'abandoned'
  | 'new-patchset'
  | 'requirement-lost'
  /** The code host would not land it any more. */
  | 'cannot-land'
  | 'dependency-lost'
  /** It enters again at once: its changes depend on others, or on fewer, in a cycle than those that were tested together. */
  | 'cycle-changed'
  /** Its change entered a pipeline that supercedes this one. */
  | 'superseded'
  /** A newer item of its project and ref took its place in a supercedent pipeline. */
  | 'overtaken'
  | 'merged-elsewhere'
  /** A dependency item with no item behind that needs it. */
  | 'no-longer-needed'
  | 'dequeued-by-hand'
  /** Its project is not in the tenant any more. */
  | 'project-removed';

/** What removed an item from its pipeline before it was reported; also what moved one to the head. */
export interface Remover {
  /** `item`: one whose pipeline supercedes, or that overtook it; `event`: an event of the code host; `operator`: a request. */
  readonly kind: 'item' | 'event' | 'operator';
  /** Root of its trace; null: the trace is not sampled. */
  readonly span: { readonly traceId: TraceId; readonly spanId: SpanId } | null;
  /** The superceding pipeline, the change that overtook it, or the operator; null: no name for people. */
  readonly name: string | null;
}

/** Why a build was cancelled. */
export interface CancelCause {
  /** `parent-retried`: a job that it depends on had paused, and is tried again. */
  readonly code: 'reset' | 'item-left' | 'fail-fast' | 'needed-change-failing' | 'parent-retried';
  readonly at: Nanoseconds;
  /** Another item; null with `item-left`, which has `left` and `remover` instead. */
  readonly culprit: Culprit | null;
  /** With `item-left`: why it left, when recorded. */
  readonly left?: LeaveCode;
  /** With `item-left`: what removed it, when known. */
  readonly remover?: Remover;
}

/** One English clause, e.g. `unit-tests of acme/app master/login,3f2a91c0 ended with FAILURE`. */
export function culpritText(culprit: Culprit): string {
  // Without a result: its run phase has failed and the job still tidies up.
  if (culprit.job !== undefined) {
    const verdict = culprit.result === undefined ? 'is failing' : `ended with ${culprit.result}`;
    return `${culprit.job} of ${culprit.change} ${verdict}`;
  }
  if (culprit.left !== undefined) return `${culprit.change} left: ${leaveText(culprit.left)}`;
  return culprit.change;
}

/** One English clause, e.g. `the change was abandoned`. */
export function leaveText(code: LeaveCode): string {
  const texts: { readonly [code in LeaveCode]: string } = {
    reported: 'reported',
    'not-reported': 'not reported: the tenant is in shadow mode',
    abandoned: 'the change was abandoned',
    'new-patchset': 'a new patchset replaced it',
    'requirement-lost': 'a requirement of the pipeline is no longer met',
    'cannot-land': 'the code host would not land it',
    'dependency-lost': 'a change it depends on cannot merge with it',
    'cycle-changed': 'the changes that can only land together are others now',
    superseded: 'the change entered a pipeline that supercedes this one',
    overtaken: 'a newer item for the same project and ref took its place',
    'merged-elsewhere': 'the change was merged elsewhere',
    'no-longer-needed': 'no item behind needs it any more',
    'dequeued-by-hand': 'dequeued by hand',
    'project-removed': 'the project is not in the tenant any more',
  };
  return texts[code];
}

/** Why it left and at whose request, e.g. `dequeued by hand by alice (operators)`. */
export function removalText(left: LeaveCode, remover: Remover | undefined): string {
  const by = remover?.name === null || remover === undefined ? '' : ` by ${remover.name}`;
  return left === 'dequeued-by-hand' ? `${leaveText(left)}${by}` : leaveText(left);
}

/** A whole sentence without a full stop, e.g. `tested again because unit-tests of ... ended with FAILURE`. */
export function resetText(cause: ResetCause): string {
  const who = cause.culprit === null ? '' : culpritText(cause.culprit);
  const texts: { readonly [code in ResetCode]: string } = {
    'item-ahead-failed': `an item ahead failed: ${who}`,
    'item-ahead-conflict': `an item ahead cannot be merged: ${who}`,
    'item-ahead-misconfigured': `an item ahead has an invalid configuration: ${who}`,
    'item-ahead-not-merged': `the host did not merge an item ahead: ${who}`,
    'item-ahead-left': `an item ahead is gone: ${who}`,
    'item-ahead-changed': who === '' ? 'it is tested on its own now' : `another item was moved ahead: ${who}`,
    promoted: `${who === '' ? 'it' : who} was promoted${promoterText(cause)}`,
    rerun: `${who === '' ? 'its failed jobs' : `failed jobs of ${who}`} were asked for again${promoterText(cause)}`,
    'queue-changed':
      who === '' ? 'it was moved to another queue' : `an item ahead was moved to another queue: ${who}`,
    'needed-change-failing': `a change it depends on is failing: ${who}`,
    'base-moved': 'another push moved the branch, so the tested state is not what would land',
    'landed-tree-differs': `the host landed an item ahead with other contents than were tested: ${who}`,
  };
  return texts[cause.code];
}

function promoterText({ promoter }: ResetCause): string {
  return promoter?.name === undefined || promoter.name === null ? '' : ` by ${promoter.name}`;
}

/** As short as a badge: the culprit and what it did, e.g. `acme/app master/login,3f2a91c0 cannot be merged`. */
export function briefResetText(cause: ResetCause): string {
  const { culprit } = cause;
  if (culprit === null) return resetText(cause);
  const who = culpritText(culprit);
  // A culprit with a job, or one that left, comes with its verb.
  if (culprit.job !== undefined || culprit.left !== undefined) return who;
  const verbs: { readonly [code in ResetCode]: string } = {
    'item-ahead-failed': 'failed',
    'item-ahead-conflict': 'cannot be merged',
    'item-ahead-misconfigured': 'has an invalid configuration',
    'item-ahead-not-merged': 'was not merged by the host',
    'item-ahead-left': 'is gone',
    'item-ahead-changed': 'was moved ahead',
    promoted: `was promoted${promoterText(cause)}`,
    rerun: `is tested again${promoterText(cause)}`,
    'queue-changed': 'was moved to another queue',
    'needed-change-failing': 'is failing',
    'base-moved': 'landed',
    'landed-tree-differs': 'landed with other contents than were tested',
  };
  return `${who} ${verbs[cause.code]}`;
}
