/**
 * A person's checkout, read as it is. Nothing is written to it: commits that are needed are made in a bare repository of ours, which
 * borrows the objects of the checkout.
 *
 *     const tree = await openWorkTree(git, '/home/eve/app', '/tmp/run/app.git');
 *     const { commit, changed } = await tree.snapshot();        // what is in the directory now, on top of HEAD
 *     await tree.offer('refs/heads/work', commit);              // to be fetched from '/tmp/run/app.git'
 *
 * The repository's own settings do not count for a snapshot, so filters of its attributes do not run.
 */
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureMirror } from './disk/mirror-directory.ts';
import { isObjectId, type ObjectId, parseObjectId } from './objects/object-id.ts';
import type { RefName } from './objects/ref-name.ts';
import type { Git, GitResult } from './process/git.ts';

/** What a directory holds. */
interface WorkTreeSnapshot {
  /** `HEAD` itself where nothing differs from it. */
  readonly commit: ObjectId;
  /** Files that differ from `HEAD`, untracked ones that are not ignored included. */
  readonly changed: readonly string[];
}

/** An open checkout. */
export interface WorkTree {
  /** Its top directory. */
  readonly root: string;
  readonly head: ObjectId;
  /** Undefined: `HEAD` is detached. */
  readonly branch: string | undefined;
  /** `remote.origin.url`; undefined: there is none. May hold credentials. */
  readonly originUrl: string | undefined;
  /** The branch that `origin` calls its default; undefined: not known here. */
  readonly originBranch: string | undefined;
  /** @param name anything that git takes for a commit. @returns undefined: there is no such commit here. */
  commitOf(name: string): Promise<ObjectId | undefined>;
  /** The first line of the commit's message. */
  subjectOf(commit: ObjectId): Promise<string>;
  snapshot(): Promise<WorkTreeSnapshot>;
  /** Lets others fetch the commit from our repository. */
  offer(ref: RefName, commit: ObjectId): Promise<void>;
}

/** The directory is no checkout that can be read, with the reason. */
export class NotAWorkTree extends Error {
  override readonly name = 'NotAWorkTree';
}

/**
 * @param directory the checkout, or one below it.
 * @param scratch absolute path of the bare repository, made here; the caller removes it.
 * @throws NotAWorkTree
 */
export async function openWorkTree(git: Git, directory: string, scratch: string): Promise<WorkTree> {
  const here = async (...args: readonly string[]) => lineOf(await git.run(args, { cwd: directory }));
  const top = await git.run(['rev-parse', '--show-toplevel'], { cwd: directory });
  const root = lineOf(top);
  if (root === undefined || root === '') throw new NotAWorkTree(reasonOf(directory, top));
  const head = await here('rev-parse', '--verify', '--quiet', '--end-of-options', 'HEAD^{commit}');
  if (head === undefined || !isObjectId(head)) throw new NotAWorkTree(`${root} has no commit yet`);
  const common =
    (await here('rev-parse', '--path-format=absolute', '--git-common-dir')) ?? join(root, '.git');
  await ensureMirror(scratch);
  await writeFile(join(scratch, 'objects/info/alternates'), `${join(common, 'objects')}\n`);
  await copyExcludes(join(common, 'info/exclude'), scratch);
  const mine = async (...args: readonly string[]) => {
    const result = await git.run(args, { gitDir: scratch, cwd: root });
    if (result.kind !== 'ok') throw new NotAWorkTree(`${root} cannot be read: ${failureOf(result)}`);
    return result.stdout.toString();
  };
  const parentOf = 'refs/remotes/origin/';
  const origin = await here('symbolic-ref', '--quiet', `${parentOf}HEAD`);
  return {
    root,
    head,
    branch: await here('symbolic-ref', '--quiet', '--short', 'HEAD'),
    originUrl: await here('config', '--get', 'remote.origin.url'),
    originBranch: origin?.startsWith(parentOf) === true ? origin.slice(parentOf.length) : undefined,
    async commitOf(name) {
      const found = await here('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`);
      return found !== undefined && isObjectId(found) ? found : undefined;
    },
    subjectOf: async commit => (await mine('log', '-1', '--format=%s', commit)).trim(),
    async snapshot() {
      await mine('read-tree', head);
      await mine(`--work-tree=${root}`, 'add', '--all', '--', '.');
      const differing = await mine('diff-index', '--cached', '--name-only', '-z', '--no-renames', head);
      const changed = differing.split('\0').filter(path => path !== '');
      if (changed.length === 0) return { commit: head, changed };
      const tree = (await mine('write-tree')).trim();
      const message = `Work tree of ${root}`;
      return {
        commit: parseObjectId((await mine('commit-tree', tree, '-p', head, '-m', message)).trim()),
        changed,
      };
    },
    async offer(ref, commit) {
      await mine('update-ref', ref, commit);
    },
  };
}

/** What the person has git ignore here counts as it does for them. */
async function copyExcludes(from: string, scratch: string): Promise<void> {
  try {
    await copyFile(from, join(scratch, 'info/exclude'));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

/** The one line of an answer; undefined: git has none. */
function lineOf(result: GitResult): string | undefined {
  return result.kind === 'ok' ? result.stdout.toString().replace(/\n$/, '') : undefined;
}

function reasonOf(directory: string, result: GitResult): string {
  if (result.kind === 'ok') return `${directory} is a repository without a work tree`;
  if (/not a git repository/.test(failureOf(result)))
    return `${directory} is no checkout of a git repository`;
  return `${directory} cannot be read: ${failureOf(result)}`;
}

function failureOf(result: Exclude<GitResult, { kind: 'ok' }>): string {
  if (result.kind === 'failed')
    return (
      result.stderr
        .trim()
        .replace(/^fatal: /, '')
        .split('\n')[0] ?? 'git failed'
    );
  return result.kind === 'timeout'
    ? `git took more than ${result.seconds} s`
    : `git was stopped (${result.kind})`;
}
