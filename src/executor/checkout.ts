/**
 * A repository with a work tree at exactly one commit, whose objects are those of the repository cache: nothing is copied or
 * merged, and nothing can be fetched or pushed from it (`origin` is a dead URL, as in Zuul).
 *
 * Its `.git` is written here rather than by `git clone`: it takes a dozen short system calls in one go, no process, and holds no
 * hooks.
 */
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { refNameProblem } from '../git/objects/ref-name.ts';
import type { BranchName, CommitId } from '../model/project.ts';
import { type GitPlace, type OwnProcesses, WorkspaceFailure } from './git-process.ts';
import type { Owner } from './sandbox/stage.ts';
import { commitFacts, type TimeStep } from './time-step.ts';

/** One repository at one commit, as `workspace.ts` wants it. */
export interface Checkout extends GitPlace {
  readonly commit: CommitId;
  /** Checked out under this name; null: detached. */
  readonly branch: BranchName | null;
  /** Path of the cached objects as the job sees it; null: the checkout gets copies. */
  readonly alternates: string | null;
  /** Only `.git` is made, without files or an index. */
  readonly withoutFiles?: boolean;
}

/** @param checkout `tree` is an existing empty directory of the owner. @throws WorkspaceFailure */
export async function makeCheckout(
  own: OwnProcesses,
  checkout: Checkout,
  owner: Owner | null,
  time: TimeStep,
): Promise<void> {
  await time(
    'BuildCloneRepo',
    () => makeRepository(own, checkout, owner),
    () => ({ facts: { cached: checkout.alternates !== null } }),
  );
  await pointAt(checkout, owner, time);
  if (checkout.withoutFiles === true) return;
  await time(
    'BuildCheckout',
    () => own.git(checkout, ['read-tree', '--reset', '-u', checkout.commit], owner),
    () => ({ facts: { ...commitFacts(checkout), cached: false } }),
  );
}

async function makeRepository(own: OwnProcesses, checkout: Checkout, owner: Owner | null): Promise<void> {
  const git = join(checkout.tree, '.git');
  writeSkeleton(git, checkout.alternates, owner);
  if (checkout.alternates !== null) return;
  await own.system(['cp', '-R', '--', `${checkout.gitDir}/objects/.`, `${git}/objects/`]);
  if (owner !== null) await own.system(['chown', '-R', '-h', `${owner.uid}:${owner.gid}`, '--', git]);
}

/** Makes HEAD (and the branch) name the commit; does not touch the work tree. */
export async function pointAt(checkout: Checkout, owner: Owner | null, time: TimeStep): Promise<void> {
  const { tree, commit, branch } = checkout;
  const ref = branch === null ? null : branchRef(branch);
  const packed = ref === null ? '' : `# pack-refs with: peeled fully-peeled sorted \n${commit} ${ref}\n`;
  await time(
    'BuildSetRepoState',
    async () => {
      writeOwned(join(tree, '.git', 'packed-refs'), packed, owner);
      writeOwned(join(tree, '.git', 'HEAD'), ref === null ? `${commit}\n` : `ref: ${ref}\n`, owner);
    },
    () => ({ facts: commitFacts(checkout) }),
  );
}

/**
 * Brings the work tree from one commit to the wanted one; {@link pointAt} is to follow. Unlike `read-tree`, `reset` skips the directories that both
 * commits have, by what the index knows of them. HEAD is detached for it, so that it writes no branch.
 *
 * @throws WorkspaceFailure where git does not find it clean.
 */
export async function moveCheckout(
  own: OwnProcesses,
  checkout: Checkout,
  from: string,
  owner: Owner | null,
): Promise<void> {
  const git = join(checkout.tree, '.git');
  writeOwned(join(git, 'HEAD'), `${from}\n`, owner);
  await own.git(checkout, ['reset', '--quiet', '--keep', checkout.commit], owner);
  rmSync(join(git, 'ORIG_HEAD'), { force: true });
}

function branchRef(branch: BranchName): string {
  const ref = `refs/heads/${branch}`;
  const problem = refNameProblem(ref);
  if (problem !== undefined)
    throw new WorkspaceFailure(`branch ${JSON.stringify(branch)} cannot be checked out: its name ${problem}`);
  return ref;
}

/** Of `.git/config` of every new checkout: nothing in it names a program. */
export const CHECKOUT_CONFIG = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
[remote "origin"]
\turl = file:///dev/null
\tfetch = +refs/heads/*:refs/remotes/origin/*
[gc]
\tauto = 0
`;

/** Each after the one that holds it. */
const FOLDERS = ['', 'objects', 'objects/info', 'objects/pack', 'refs', 'refs/heads', 'refs/tags', 'info'];

function writeSkeleton(git: string, alternates: string | null, owner: Owner | null): void {
  for (const folder of FOLDERS) makeOwned(join(git, folder), owner);
  writeOwned(join(git, 'config'), CHECKOUT_CONFIG, owner);
  if (alternates !== null) writeOwned(join(git, 'objects/info/alternates'), `${alternates}\n`, owner);
}

function makeOwned(path: string, owner: Owner | null): void {
  mkdirSync(path);
  if (owner !== null) chownSync(path, owner.uid, owner.gid);
}

function writeOwned(path: string, text: string, owner: Owner | null): void {
  writeFileSync(path, text);
  if (owner !== null) chownSync(path, owner.uid, owner.gid);
}
