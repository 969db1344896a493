/**
 * Three-way merges of whole commits in a bare repository, about 1 ms each: `git merge-tree --write-tree --stdin` keeps running
 * and answers one merge after another. No work tree, no index.
 *
 *     await mergeTree.merge(ours, theirs)   → { kind: 'clean', tree } | { kind: 'conflict', files } | { kind: 'unrelated' }
 *
 * git before 2.50 does not flush its answers, which deadlocks a client that waits for them; `stdbuf -o0` helps.
 * `probe-merge-tree.ts` finds out once what works; otherwise each merge is a process of its own (6 ms).
 *
 * Commits that git cannot merge (unrelated histories, a damaged object) end the coprocess without a message. So a merge whose
 * process died is repeated by a process of its own, whose exit code and message give the reason; other merges on the same pipe
 * are not affected.
 *
 * A repository without a work tree has no `.gitattributes`: custom merge drivers and `merge=union` of a project do not apply.
 */
import { nextTurn, turnIsUsed } from '../../lib/turns.ts';
import { isObjectId, type ObjectId, parseObjectId } from '../objects/object-id.ts';
import { pathText } from '../objects/tree.ts';
import type { ByteReader } from '../process/byte-reader.ts';
import {
  type Coprocess,
  CoprocessDied,
  type CoprocessOptions,
  createCoprocess,
} from '../process/coprocess.ts';
import type { Git } from '../process/git.ts';

/** Of a merge that git could carry out. The tree is in the repository; a commit is for the caller to write. */
export type MergeTreeResult =
  | { readonly kind: 'clean'; readonly tree: ObjectId }
  /** Paths with conflicts, as git lists them; the first 1000. */
  | { readonly kind: 'conflict'; readonly files: readonly string[] }
  /** The two have no common ancestor. */
  | { readonly kind: 'unrelated' };

/** How git is called; see the head comment. */
export type MergeTreeMode = CoprocessMode | 'process-per-merge';
/** `unbuffered-coprocess`: under `stdbuf -o0`, for a git that does not flush its answers. */
export type CoprocessMode = 'coprocess' | 'unbuffered-coprocess';

/** Merges commits of one repository. */
export interface MergeTree {
  /** Both commits must be in the repository. @throws Error when git fails for another reason than the merge. */
  merge(ours: ObjectId, theirs: ObjectId): Promise<MergeTreeResult>;
  /** Pid of the running coprocess, for tests. */
  pid(): number | undefined;
  close(): Promise<void>;
}

/** Most conflicting paths of one merge that are returned: people read the first ones. */
const MOST_CONFLICTS = 1_000;
const UNBUFFERED = ['stdbuf', '-o0'];
const ARGS = ['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z'];

/** @param mode from `probeMergeTree`: with a wrong one every merge waits for the timeout first. */
export function createMergeTree(
  git: Git,
  gitDir: string,
  mode: MergeTreeMode,
  options: CoprocessOptions = {},
): MergeTree {
  if (mode === 'process-per-merge') {
    return {
      merge: (ours, theirs) => mergeOnce(git, gitDir, ours, theirs),
      pid: () => undefined,
      close: async () => undefined,
    };
  }
  const process = startMergeProcess(git, gitDir, mode, options);
  return {
    async merge(ours, theirs) {
      try {
        return await askForMerge(process, ours, theirs);
      } catch (error) {
        if (!(error instanceof CoprocessDied)) throw error;
        return mergeOnce(git, gitDir, ours, theirs);
      }
    },
    pid: () => process.pid(),
    close: () => process.close(),
  };
}

/** The bare coprocess, without the fallback of {@link createMergeTree}. */
export function startMergeProcess(
  git: Git,
  gitDir: string,
  mode: CoprocessMode,
  options: CoprocessOptions = {},
): Coprocess {
  const wrapper = mode === 'unbuffered-coprocess' ? UNBUFFERED : [];
  return createCoprocess(() => git.start([...ARGS, '--stdin'], { gitDir, wrapper }), options);
}

/** @throws CoprocessDied also for commits that git cannot merge. */
export function askForMerge(process: Coprocess, ours: ObjectId, theirs: ObjectId): Promise<MergeTreeResult> {
  return process.exchange(`${ours} ${theirs}\n`, readAnswer);
}

/** `<1 clean | 0 conflict> NUL <tree> NUL (<path> NUL)* NUL`. */
async function readAnswer(reader: ByteReader): Promise<MergeTreeResult> {
  const status = (await reader.until(0)).toString('latin1');
  const tree = (await reader.until(0)).toString('latin1');
  const files = await readPaths(reader);
  if (status === '1') return { kind: 'clean', tree: parseObjectId(tree) };
  if (status === '0') return { kind: 'conflict', files };
  throw new Error(`unexpected answer of merge-tree: ${JSON.stringify(status.slice(0, 200))}`);
}

async function readPaths(reader: ByteReader): Promise<string[]> {
  const paths: string[] = [];
  for (;;) {
    const path = (await reader.until(0)).toString('latin1');
    if (path === '') return paths;
    if (paths.length < MOST_CONFLICTS) paths.push(pathText(path));
    if (turnIsUsed()) await nextTurn();
  }
}

async function mergeOnce(
  git: Git,
  gitDir: string,
  ours: ObjectId,
  theirs: ObjectId,
): Promise<MergeTreeResult> {
  const result = await git.run([...ARGS, ours, theirs], { gitDir });
  if (result.kind === 'ok' || (result.kind === 'failed' && result.exitCode === 1)) {
    const [tree = '', ...files] = result.stdout.toString('latin1').split('\0');
    if (!isObjectId(tree))
      throw new Error(`unexpected output of git merge-tree: ${JSON.stringify(tree.slice(0, 200))}`);
    return result.kind === 'ok'
      ? { kind: 'clean', tree }
      : { kind: 'conflict', files: files.filter(Boolean).slice(0, MOST_CONFLICTS).map(pathText) };
  }
  if (result.kind === 'failed' && result.stderr.includes('unrelated histories')) return { kind: 'unrelated' };
  const reason = result.kind === 'failed' ? result.stderr.trim() : result.kind;
  throw new Error(`git merge-tree ${ours} ${theirs} in ${gitDir}: ${reason}`);
}
