/**
 * What pipelines work on: a proposed change (a pull request, a Gerrit change, a proposal branch) or an update of a ref
 * (a push, a tag). A change here is a snapshot of one revision; what the host currently says of it is a
 * {@link ChangeRecord}, refreshed by events.
 *
 * Worked example, git driver: pushing `for/master/login` to project `acme/app` of connection `local` gives
 *
 *     { kind: 'change', key: 'local/acme/app#master/login', project: 'local/acme/app', branch: 'master',
 *       id: 'master/login', patchset: '3f2a...', commit: '3f2a...', ref: 'refs/heads/for/master/login', ... }
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Json } from './job.ts';
import type { MergeMode } from './merge-mode.ts';
import type { MergeText } from './merge-text.ts';
import {
  type BranchName,
  type CommitId,
  type ConnectionName,
  type ProjectKey,
  projectIdOf,
  shortCommit,
} from './project.ts';

declare const brand: unique symbol;
/** Identity of a change over its revisions (`<project key>#<id>`), or of one ref update (`<project key>@<ref>@<new>`). */
export type ChangeKey = string & { readonly [brand]: 'ChangeKey' };

interface CommonChange {
  readonly key: ChangeKey;
  readonly project: ProjectKey;
  /** Where a person looks at it; absent when the host has no pages. */
  readonly url?: string;
}

/** One revision of a proposed change, as the driver read it from the host. */
export interface ProposedChange extends CommonChange {
  readonly kind: 'change';
  /** Target branch without `refs/heads/`. */
  readonly branch: BranchName;
  /** The host's id: `123` for a pull request, `master/login` for a proposal branch. */
  readonly id: string;
  /** The host's name of this revision; the commit where the host has no numbers. */
  readonly patchset: string;
  readonly commit: CommitId;
  /** Full ref under which the commit can be fetched. */
  readonly ref: string;
  /** First line of the commit message; shown to people, never exported. */
  readonly subject: string;
  readonly owner?: string;
  /** For the message of the commit that lands it. Absent: the driver has none. */
  readonly mergeText?: MergeText;
  /** How the host lands it, for a project whose configuration names no mode. Absent: it has no way of its own, and it is `merge`. */
  readonly mergeMode?: MergeMode;
}

/** One update of a branch or tag, as the host delivered it. */
export interface RefUpdate extends CommonChange {
  readonly kind: 'ref';
  /** Full ref, e.g. `refs/heads/master`, `refs/tags/v1`. */
  readonly ref: string;
  /** Set when the ref is a branch. */
  readonly branch?: BranchName;
  /**
   * The branch that the host will move to `newCommit` if it passes (the ref of a merge group): queue, jobs, configuration and the
   * checkout are that branch's, and `oldCommit` is where it stands. The commit is tested as it is.
   */
  readonly targetBranch?: BranchName;
  /** null: the ref did not exist before. */
  readonly oldCommit: CommitId | null;
  /** null: the ref was deleted. */
  readonly newCommit: CommitId | null;
  /** Id of the tree of `newCommit`; absent: not read. */
  readonly tree?: string;
}

/** What an item is about: a proposed change, or an update of a ref. */
export type Change = ProposedChange | RefUpdate;

/** State of a change at its host. */
export type ChangeStatus = 'open' | 'merged' | 'abandoned';

/** What the host groups changes by, over its projects: those of one topic may have to land together. */
export interface ChangeTopic {
  /** Topics with equal names of one connection are one. */
  readonly name: string;
  /** The host lands all open changes of it in one go. */
  readonly landsWhole: boolean;
  /** The host counted more open changes of it than can be one item: they are not all in the change cache. */
  readonly isTooLarge?: true;
}

/** Open changes of a topic that may be one item: a graph of that many jobs still fits into the store. */
export const MOST_OF_TOPIC = 100;

/** The change cache's entry: what the host last said, as far as gating needs it. */
export interface ChangeRecord {
  readonly change: Change;
  readonly status: ChangeStatus;
  /** Changes that must merge first (git parents and `Depends-On`), in order, direct ones only. */
  readonly dependsOn: readonly ChangeKey[];
  /**
   * Values of `Depends-On` lines, as written, that name no change yet: of a driver, those it does not know by itself; in the
   * change cache, those that no connection knows (`src/scheduler/changes/resolve-dependencies.ts`).
   */
  readonly unresolvedDependencies: readonly string[];
  /** Of `dependsOn`, those whose commits its own is built on: they go first, also in one item. Absent: none, or the driver names none. */
  readonly builtOn?: readonly ChangeKey[];
  /** Absent: the change has none, or its host has no topics. */
  readonly topic?: ChangeTopic;
  /** What the driver's requirements look at (approvals, labels, votes with their dates): read by its own parser alone. */
  readonly facts: Json;
  readonly fetchedAt: Nanoseconds;
  /**
   * Events of reports of ours by name, since anything else happened to this revision: `src/scheduler/changes/own-reports.ts`, which
   * adds it to what a driver says. Absent: none.
   */
  readonly ownReports?: { readonly [report: string]: number };
}

/** `local/acme/app#master/login`. @param id the host's id of the change. */
export function changeKey(project: ProjectKey, id: string): ChangeKey {
  return `${project}#${id}` as ChangeKey;
}

/** `local/acme/app@refs/tags/v1@3f2a…`. @param newCommit null: the ref was deleted. */
export function refUpdateKey(project: ProjectKey, ref: string, newCommit: CommitId | null): ChangeKey {
  return `${project}@${ref}@${newCommit ?? 'deleted'}` as ChangeKey;
}

/** The connection a change lives on: every key begins with it. */
export function connectionOfKey(key: ChangeKey): ConnectionName {
  return key.slice(0, key.indexOf('/'));
}

/** The revision that is tested: null only for a deleted ref. */
export function commitOf(change: Change): CommitId | null {
  return change.kind === 'change' ? change.commit : change.newCommit;
}

/** The branch whose queue and jobs a change gets; undefined: a tag or another ref without one. */
export function targetBranchOf(change: Change): BranchName | undefined {
  return change.kind === 'change' ? change.branch : (change.targetBranch ?? change.branch);
}

/** How people read it: `acme/app master/login 3f2a91c0`. */
export function changeText(change: Change): string {
  const name = projectIdOf(change.project).name;
  if (change.kind === 'change') {
    const revision = change.patchset === change.commit ? shortCommit(change.commit) : change.patchset;
    return `${name} ${change.id},${revision}`;
  }
  return `${name} ${change.ref}${change.newCommit === null ? ' (deleted)' : ` ${shortCommit(change.newCommit)}`}`;
}

/** How people read a change of which only the key is known: `acme/app master/login`, `acme/app refs/tags/v1 3f2a91c0`. */
export function changeKeyText(key: ChangeKey): string {
  const id = key.indexOf('#');
  const ref = key.indexOf('@refs/');
  const isRef = ref >= 0 && (id < 0 || ref < id);
  const end = isRef ? ref : id;
  if (end < 0) return key;
  const { name } = projectIdOf(key.slice(0, end) as ProjectKey);
  const rest = key.slice(end + 1);
  if (!isRef) return `${name} ${rest}`;
  const at = rest.lastIndexOf('@');
  const commit = rest.slice(at + 1);
  return `${name} ${rest.slice(0, at)} ${commit === 'deleted' ? '(deleted)' : commit.slice(0, 8)}`;
}

/** Same change at the same revision, for the same branch. */
export function sameRevision(a: Change, b: Change): boolean {
  return (
    a.key === b.key && commitOf(a) === commitOf(b) && patchsetOf(a) === patchsetOf(b) && a.branch === b.branch
  );
}

function patchsetOf(change: Change): string {
  return change.kind === 'change' ? change.patchset : '';
}
