/**
 * What the driver keeps of a Gerrit change in its change record: everything that triggers, requirements and `canLand` look at.
 * Read from Gerrit as a whole, never from an event.
 *
 *     { kind: 'change', number: 12, changeId: 'Ie2f5…', status: 'NEW', wip: false, private: false, topic: 't1', hashtags: [],
 *       approvals: [{ label: 'Code-Review', value: 2, by: { username: 'bob', … }, at: '1795…' }],
 *       labels: [{ name: 'Verified', state: 'needed', ours: { min: -2, max: 2 } }], parents: [], … }
 */
import type { Nanoseconds } from '../../src/lib/clock.ts';

/** A person or machine at Gerrit. Null: the account has none, or Gerrit does not show it. */
export type GerritAccount = {
  readonly id: number | null;
  readonly username: string | null;
  readonly email: string | null;
  readonly name: string | null;
};

/** A vote other than 0 on the current patch set. */
export interface Approval {
  readonly label: string;
  readonly value: number;
  readonly by: GerritAccount;
  /** When it was given; null: Gerrit does not say (it was copied, or is older than NoteDb). */
  readonly at: Nanoseconds | null;
}

/** What Gerrit itself says of a label. */
export interface LabelFact {
  readonly name: string;
  /** `met`: approved. `rejected`: a vote blocks. `needed`: a vote is missing. `optional`: without effect on submitting. */
  readonly state: 'met' | 'rejected' | 'needed' | 'optional';
  /** Votes that our account may give, 0 to 0: none; null: Gerrit did not say. */
  readonly ours: { readonly min: number; readonly max: number } | null;
  /** The highest value of the label; null: not known. */
  readonly max: number | null;
}

/** A rule of Gerrit 3.5 and later; older ones have `submitRecords` alone. */
export interface SubmitRequirement {
  readonly name: string;
  readonly status: 'SATISFIED' | 'UNSATISFIED' | 'OVERRIDDEN' | 'NOT_APPLICABLE' | 'ERROR' | 'FORCED';
  /** Labels that its expression names, e.g. `label:Verified=MAX` names `Verified`. Empty: it depends on something else. */
  readonly labels: readonly string[];
  /** The expression as written, cut at 200 characters. */
  readonly expression: string;
}

/** What a submit rule (Prolog, a plug-in, the labels' functions) said. */
export interface SubmitRecord {
  /** E.g. `OK`, `NOT_READY`, `RULE_ERROR`, `CLOSED`. */
  readonly status: string;
  readonly labels: readonly {
    readonly label: string;
    readonly status: 'OK' | 'NEED' | 'MAY' | 'REJECT' | 'IMPOSSIBLE';
  }[];
  /** Sentences of rules that are not labels. */
  readonly requirements: readonly string[];
  readonly error: string | null;
}

/** A change that the commit is built on. */
export interface ParentFact {
  readonly number: number;
  /** The patch set that the commit is built on. */
  readonly patchset: number;
  /** Its newest patch set when this was read. */
  readonly currentPatchset: number;
  readonly status: 'NEW' | 'MERGED' | 'ABANDONED';
}

/** How Gerrit makes the commit that lands. */
export type SubmitType =
  | 'INHERIT'
  | 'FAST_FORWARD_ONLY'
  | 'MERGE_IF_NECESSARY'
  | 'MERGE_ALWAYS'
  | 'REBASE_IF_NECESSARY'
  | 'REBASE_ALWAYS'
  | 'CHERRY_PICK';

/** Facts of a change. */
export interface GerritFacts {
  readonly kind: 'change';
  readonly number: number;
  readonly changeId: string;
  readonly status: 'NEW' | 'MERGED' | 'ABANDONED';
  readonly wip: boolean;
  readonly private: boolean;
  readonly topic: string | null;
  readonly hashtags: readonly string[];
  readonly owner: GerritAccount;
  readonly uploader: GerritAccount;
  /** Of the current patch set. */
  readonly patchset: number;
  readonly revision: string;
  readonly approvals: readonly Approval[];
  readonly labels: readonly LabelFact[];
  /** Null: this Gerrit has none. */
  readonly submitRequirements: readonly SubmitRequirement[] | null;
  /** Null: Gerrit did not say. */
  readonly submitRecords: readonly SubmitRecord[] | null;
  /** Gerrit's own judgement with all votes as they are; null: it did not say. */
  readonly submittable: boolean | null;
  /** Null: Gerrit does not compute it. */
  readonly mergeable: boolean | null;
  /** Null: Gerrit did not say. */
  readonly submitType: SubmitType | null;
  /** Changes whose patch sets the commit is built on directly, merged ones left out. */
  readonly parents: readonly ParentFact[];
  /** `updated` of the change. */
  readonly updatedAt: Nanoseconds;
}

/** Facts of the update of a branch or tag: none. */
export interface GerritRefFacts {
  readonly kind: 'ref';
}
