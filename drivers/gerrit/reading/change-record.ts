/** A change as a change record. Pure. */
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import {
  type ChangeKey,
  type ChangeRecord,
  type ChangeStatus,
  changeKey,
  type ProposedChange,
} from '../../../src/model/change.ts';
import type { Json } from '../../../src/model/job.ts';
import { boundedMergeText } from '../../../src/model/merge-text.ts';
import { type ProjectKey, parseCommitId } from '../../../src/model/project.ts';
import type { ChangeInfo } from '../api/change-info.ts';
import type { GerritAccount, GerritFacts, ParentFact } from '../facts.ts';
import { mergeModeOf } from '../landing/merge-mode-of.ts';
import { gerritFacts } from './change-facts.ts';

/** The record of a change. */
export type GerritChangeRecord = ChangeRecord & { readonly change: ProposedChange };

/** What a record holds besides the answer about the change. */
export interface RecordBeside {
  readonly project: ProjectKey;
  /** Without trailing slash. */
  readonly baseUrl: string;
  /** Changes that the commit is built on directly and that have not merged. */
  readonly parents: readonly ParentFact[];
  /** Open changes that legacy Change-Id footers name. */
  readonly named: readonly ChangeKey[];
  /** Values of `Depends-On` lines that are left to the core, which knows every connection. */
  readonly lines: readonly string[];
  /** Gerrit submits all changes of a topic in one go. */
  readonly submitsTopics: boolean;
  readonly readAt: Nanoseconds;
}

/** A change that is closed depends on nothing. */
export function gerritChangeRecord(info: ChangeInfo, beside: RecordBeside): GerritChangeRecord {
  const { project, parents, named, lines, submitsTopics, readAt } = beside;
  const facts = gerritFacts(info, parents);
  const needed = parents.map(({ number }) => changeKey(project, String(number)));
  const isOpen = info.status === 'NEW';
  return {
    change: proposedChange(info, facts, beside),
    status: STATUS[info.status],
    dependsOn: isOpen ? [...new Set([...needed, ...named])] : [],
    unresolvedDependencies: isOpen ? lines : [],
    ...(isOpen && needed.length > 0 ? { builtOn: needed } : {}),
    ...(info.topic === null ? {} : { topic: { name: info.topic, landsWhole: submitsTopics } }),
    facts: factsJson(facts),
    fetchedAt: readAt,
  };
}

/** The same for a change that Gerrit shows no more: nothing can be done with it. */
export function goneChangeRecord(record: ChangeRecord, now: Nanoseconds): ChangeRecord {
  return { ...record, status: 'abandoned', dependsOn: [], unresolvedDependencies: [], fetchedAt: now };
}

const STATUS: { readonly [status in ChangeInfo['status']]: ChangeStatus } = {
  NEW: 'open',
  MERGED: 'merged',
  ABANDONED: 'abandoned',
};

function proposedChange(
  info: ChangeInfo,
  facts: GerritFacts,
  { project, baseUrl }: Pick<RecordBeside, 'project' | 'baseUrl'>,
): ProposedChange {
  const { number, branch, revision, owner } = info;
  const id = String(number);
  return {
    kind: 'change',
    key: changeKey(project, id),
    project,
    branch,
    id,
    patchset: String(revision.number),
    commit: parseCommitId(revision.commit),
    ref: revision.ref,
    subject: subjectOf(info),
    owner: owner.username ?? owner.name ?? owner.email ?? String(owner.id ?? ''),
    mergeText: boundedMergeText({
      title: info.subject,
      body: bodyOf(revision.message),
      reviewers: reviewersOf(facts),
    }),
    ...(facts.submitType === null ? {} : { mergeMode: mergeModeOf(facts.submitType) }),
    url: `${baseUrl}/c/${info.project.split('/').map(encodeURIComponent).join('/')}/+/${id}`,
  };
}

/** One line of at most 256 characters. */
function subjectOf({ subject }: ChangeInfo): string {
  return subject
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 256)
    .toWellFormed();
}

/** Without the subject, which is all up to the first empty line. */
function bodyOf(message: string): string {
  const end = message.indexOf('\n\n');
  return end < 0 ? '' : message.slice(end + 2);
}

/** Those who voted for the code. */
function reviewersOf({ approvals }: GerritFacts): readonly string[] {
  return approvals
    .filter(({ label, value }) => label === 'Code-Review' && value > 0)
    .map(({ by }) => nameOf(by));
}

function nameOf({ id, name, username, email }: GerritAccount): string {
  const shown = name ?? username ?? email ?? String(id ?? '');
  return email === null ? shown : `${shown} <${email}>`;
}

function factsJson(facts: GerritFacts): Json {
  return JSON.parse(JSON.stringify(facts));
}
