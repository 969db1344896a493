/**
 * Gerrit's ChangeInfo as far as the driver reads it, checked: what is absent at Gerrit is null or empty here.
 *
 * Source of the forms: answers of a real Gerrit 3.2, and for submit requirements (3.5) its REST documentation.
 */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import type { Json } from '../../../src/model/job.ts';
import type { GerritAccount, SubmitRecord, SubmitRequirement, SubmitType } from '../facts.ts';
import { readAccountInfo, UNKNOWN_ACCOUNT } from './account-info.ts';
import { choiceOf, type JsonMapping, mappingsOf, textOf, textsOf, wholeOf } from './info-json.ts';
import { readGerritTime } from './info-time.ts';
import { type LabelInfo, readLabelInfos } from './label-info.ts';
import { type ChangeMessage, readChangeMessages } from './message-info.ts';
import { readSubmitRecords, readSubmitRequirements } from './submit-info.ts';

export type { LabelInfo } from './label-info.ts';
export type { ChangeMessage } from './message-info.ts';

/** Options (`o=`) that a read of a change asks for. The client leaves out the ones that an older Gerrit does not know. */
export const CHANGE_OPTIONS = [
  'CURRENT_REVISION',
  'CURRENT_COMMIT',
  'LABELS',
  'DETAILED_LABELS',
  'DETAILED_ACCOUNTS',
  'SUBMITTABLE',
  'SUBMIT_REQUIREMENTS',
  'MESSAGES',
] as const;

/** A change, as one read shows it. */
export interface ChangeInfo {
  readonly number: number;
  readonly project: string;
  /** Without `refs/heads/`. */
  readonly branch: string;
  readonly changeId: string;
  readonly subject: string;
  readonly status: 'NEW' | 'MERGED' | 'ABANDONED';
  readonly topic: string | null;
  readonly hashtags: readonly string[];
  readonly wip: boolean;
  readonly private: boolean;
  readonly owner: GerritAccount;
  readonly createdAt: Nanoseconds;
  readonly updatedAt: Nanoseconds;
  readonly submitType: SubmitType | null;
  readonly mergeable: boolean | null;
  readonly submittable: boolean | null;
  readonly labels: readonly LabelInfo[];
  readonly submitRequirements: readonly SubmitRequirement[] | null;
  readonly submitRecords: readonly SubmitRecord[] | null;
  /** Oldest first. */
  readonly messages: readonly ChangeMessage[];
  /** Accounts that are reviewers now. */
  readonly reviewers: readonly GerritAccount[];
  readonly revision: {
    readonly commit: string;
    readonly number: number;
    /** `refs/changes/12/12/2` */
    readonly ref: string;
    readonly uploader: GerritAccount;
    readonly createdAt: Nanoseconds;
    readonly parents: readonly string[];
    /** Complete commit message, cut at 64 KB. */
    readonly message: string;
  };
  /** A query has further results. */
  readonly hasMore: boolean;
}

const LONGEST_NAME = 1_000;
const LONGEST_MESSAGE = 65_536;
const MOST = 1_000;
const MOST_REVIEWERS = 10_000;

const STATUSES = ['NEW', 'MERGED', 'ABANDONED'] as const;
const SUBMIT_TYPES = [
  'INHERIT',
  'FAST_FORWARD_ONLY',
  'MERGE_IF_NECESSARY',
  'MERGE_ALWAYS',
  'REBASE_IF_NECESSARY',
  'REBASE_ALWAYS',
  'CHERRY_PICK',
] as const;

/**
 * A change as read with {@link CHANGE_OPTIONS}, at `changes/<n>/detail` or from a query. Never throws; long texts and lists are cut.
 *
 * @returns undefined: not a change, or without what every decision needs: number, project, branch, status, times, current commit.
 */
export function readChangeInfo(json: Json): ChangeInfo | undefined {
  if (!isMapping(json)) return undefined;
  const identity = readIdentity(json);
  const revision = readRevision(json);
  if (identity === undefined || revision === undefined) return undefined;
  return {
    ...identity,
    revision,
    subject: textOf(json.subject, LONGEST_NAME) ?? '',
    topic: textOf(json.topic, LONGEST_NAME) || null,
    hashtags: textsOf(json.hashtags, MOST, LONGEST_NAME),
    wip: json.work_in_progress === true,
    private: json.is_private === true,
    owner: readAccountInfo(json.owner) ?? UNKNOWN_ACCOUNT,
    submitType: choiceOf(json.submit_type, SUBMIT_TYPES),
    mergeable: flagOf(json.mergeable),
    submittable: flagOf(json.submittable),
    labels: readLabelInfos(json.labels, json.permitted_labels),
    submitRequirements: readSubmitRequirements(json.submit_requirements),
    submitRecords: readSubmitRecords(json.submit_records, json.requirements),
    messages: readChangeMessages(json.messages),
    reviewers: readReviewers(json.reviewers),
    hasMore: json._more_changes === true,
  };
}

function readIdentity(json: JsonMapping) {
  const number = wholeOf(json._number);
  const project = textOf(json.project, LONGEST_NAME);
  const branch = textOf(json.branch, LONGEST_NAME);
  const changeId = textOf(json.change_id, LONGEST_NAME);
  const status = choiceOf(json.status, STATUSES);
  const createdAt = readGerritTime(json.created);
  const updatedAt = readGerritTime(json.updated);
  if (number === null || number < 1 || project === null || branch === null || changeId === null)
    return undefined;
  if (status === null || createdAt === null || updatedAt === null) return undefined;
  return {
    number,
    project,
    branch: branch.replace(/^refs\/heads\//, ''),
    changeId,
    status,
    createdAt,
    updatedAt,
  };
}

const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** The current one. Its `fetch` is not read: it is empty without the download-commands plug-in. */
function readRevision(json: JsonMapping): ChangeInfo['revision'] | undefined {
  const { current_revision: commit, revisions } = json;
  if (typeof commit !== 'string' || !COMMIT.test(commit) || !isMapping(revisions)) return undefined;
  const revision = revisions[commit];
  if (!isMapping(revision) || !isMapping(revision.commit)) return undefined;
  const number = wholeOf(revision._number);
  const ref = textOf(revision.ref, LONGEST_NAME);
  const createdAt = readGerritTime(revision.created);
  if (number === null || ref === null || createdAt === null) return undefined;
  return {
    commit,
    number,
    ref,
    createdAt,
    uploader: readAccountInfo(revision.uploader) ?? UNKNOWN_ACCOUNT,
    parents: readParents(revision.commit.parents),
    message: textOf(revision.commit.message, LONGEST_MESSAGE) ?? '',
  };
}

function readParents(json: Json | undefined): readonly string[] {
  return mappingsOf(json, MOST).flatMap(({ commit }) =>
    typeof commit === 'string' && COMMIT.test(commit) ? [commit] : [],
  );
}

/** `CC` are people who only look on. */
function readReviewers(json: Json | undefined): readonly GerritAccount[] {
  const listed = isMapping(json) ? json.REVIEWER : undefined;
  return mappingsOf(listed, MOST_REVIEWERS).flatMap(each => readAccountInfo(each) ?? []);
}

function flagOf(json: Json | undefined): boolean | null {
  return typeof json === 'boolean' ? json : null;
}
