/**
 * Labels of a ChangeInfo with the votes of all reviewers (`LABELS` and `DETAILED_LABELS`). Pure.
 *
 *     labels            { Verified: { approved: {…}, all: [{ value: 2, username: 'ci', … }], values: { "-1": …, " 0": …, "+1": … } } }
 *     permitted_labels  { Verified: ["-1", " 0", "+1"] }
 */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import type { Json } from '../../../src/model/job.ts';
import type { GerritAccount } from '../facts.ts';
import { readAccountInfo, UNKNOWN_ACCOUNT } from './account-info.ts';
import { entriesOf, type JsonMapping, mappingsOf, pairsOf, wholeOf } from './info-json.ts';
import { readGerritTime } from './info-time.ts';

/** The label of a change. */
export interface LabelInfo {
  readonly name: string;
  /** `approved` and `rejected` name who did; `blocking`: nothing can be submitted. */
  readonly isApproved: boolean;
  readonly isRejected: boolean;
  readonly isBlocking: boolean;
  readonly isOptional: boolean;
  /** Every reviewer's vote, 0 as well. */
  readonly votes: readonly {
    readonly by: GerritAccount;
    readonly value: number;
    readonly at: Nanoseconds | null;
    /** What the account may vote, as far as Gerrit shows it. */
    readonly range: { readonly min: number; readonly max: number } | null;
  }[];
  /** Ascending. */
  readonly values: readonly number[];
  /** What our account may give (`permitted_labels`); null: Gerrit did not say. */
  readonly permitted: readonly number[] | null;
}

const MOST_LABELS = 1_000;
const MOST_VOTES = 10_000;
const MOST_VALUES = 1_000;

/** @param labels, permitted members `labels` and `permitted_labels` of the change. */
export function readLabelInfos(labels: Json | undefined, permitted: Json | undefined): readonly LabelInfo[] {
  const ours = isMapping(permitted) ? new Map(pairsOf(permitted, MOST_LABELS)) : undefined;
  return pairsOf(labels, MOST_LABELS).flatMap(([name, label]) =>
    // A label that is not among the permitted ones may not be voted on.
    isMapping(label)
      ? [readLabel(name, label, ours === undefined ? null : (valuesOf(ours.get(name)) ?? []))]
      : [],
  );
}

function readLabel(name: string, label: JsonMapping, permitted: readonly number[] | null): LabelInfo {
  return {
    name: name.slice(0, 200).toWellFormed(),
    isApproved: isMapping(label.approved),
    isRejected: isMapping(label.rejected),
    isBlocking: label.blocking === true,
    isOptional: label.optional === true,
    votes: mappingsOf(label.all, MOST_VOTES).map(readVote),
    values: valuesOf(isMapping(label.values) ? Object.keys(label.values) : undefined) ?? [],
    permitted,
  };
}

/** Without `value` the account may not vote, and has no vote either. */
function readVote(vote: JsonMapping): LabelInfo['votes'][number] {
  const { permitted_voting_range: range } = vote;
  const min = isMapping(range) ? wholeOf(range.min) : null;
  const max = isMapping(range) ? wholeOf(range.max) : null;
  return {
    by: readAccountInfo(vote) ?? UNKNOWN_ACCOUNT,
    value: wholeOf(vote.value) ?? 0,
    at: readGerritTime(vote.date),
    range: min === null || max === null ? null : { min, max },
  };
}

/** Votes as texts: `-2`, ` 0`, `+1`. @returns ascending; null: not a list. */
function valuesOf(json: Json | undefined): readonly number[] | null {
  if (!Array.isArray(json)) return null;
  return entriesOf(json, MOST_VALUES)
    .map(text => (typeof text === 'string' && /^[+\-\s]?\d{1,4}$/.test(text) ? Number(text) : Number.NaN))
    .filter(value => !Number.isNaN(value))
    .sort((a, b) => a - b);
}
