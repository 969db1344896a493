/**
 * A repository with a work tree at exactly one commit, whose objects are those of the repository cache: nothing is copied or
 * merged, and nothing can be fetched or pushed from it (`origin` is a dead URL, as in Zuul).
 *
 * Its `.git` is written here rather than by `git clone`: it takes a dozen small files, no process, and holds no hooks.
 */
import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { refNameProblem } from '../git/ref-name.ts';
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
  await time(
    'BuildCheckout',
    () => own.git(checkout, ['read-tree', '--reset', '-u', checkout.commit], owner),
    () => ({ facts: { ...commitFacts(checkout), cached: false } }),
  );
}

async function makeRepository(own: OwnProcesses, checkout: Checkout, owner: Owner | null): Promise<void> {
  const git = join(checkout.tree, '.git');
  await writeSkeleton(git, checkout.alternates, owner);
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
      await Promise.all([
        writeOwned(join(tree, '.git', 'packed-refs'), packed, owner),
        writeOwned(join(tree, '.git', 'HEAD'), ref === null ? `${commit}\n` : `ref: ${ref}\n`, owner),
      ]);
    },
    () => ({ facts: commitFacts(checkout) }),
  );
}

function branchRef(branch: BranchName): string {
  const ref = `refs/heads/${branch}`;
  const problem = refNameProblem(ref);
  if (problem !== undefined)
    throw new WorkspaceFailure(`branch ${JSON.stringify(branch)} cannot be checked out: its name ${problem}`);
  return ref;
}

const CONFIG = `[core]
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

/** Level by level. */
const FOLDERS = [
  [''],
  ['objects', 'refs', 'info'],
  ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags'],
];

async function writeSkeleton(git: string, alternates: string | null, owner: Owner | null): Promise<void> {
  for (const level of FOLDERS) await Promise.all(level.map(folder => makeOwned(join(git, folder), owner)));
  await Promise.all([
    writeOwned(join(git, 'config'), CONFIG, owner),
    ...(alternates === null
      ? []
      : [writeOwned(join(git, 'objects/info/alternates'), `${alternates}\n`, owner)]),
  ]);
}

async function makeOwned(path: string, owner: Owner | null): Promise<void> {
  await mkdir(path);
  if (owner !== null) await chown(path, owner.uid, owner.gid);
}

async function writeOwned(path: string, text: string, owner: Owner | null): Promise<void> {
  await writeFile(path, text);
  if (owner !== null) await chown(path, owner.uid, owner.gid);
}
