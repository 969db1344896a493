/** What is read of one project's mirror: commits that were fetched. Nothing here asks the remote. */

import type { ChainStep } from '../../src/git/merge/merge-chain.ts';
import { type ObjectId, parseObjectId } from '../../src/git/objects/object-id.ts';
import { MissingObject } from '../../src/git/objects/object-reader.ts';
import { OverBudget } from '../../src/git/objects/tree-budget.ts';
import type { Git } from '../../src/git/process/git.ts';
import type { Repository } from '../../src/git/repository.ts';
import { createLru, type Lru } from '../../src/git/support/lru.ts';
import type { CommitGraph } from './commit-graph.ts';
import { type CommitText, parseCommitText } from './commit-text.ts';
import { createGraphMemory } from './graph-memory.ts';

/** Asks the mirror alone. */
export interface MirrorReads {
  has(commit: ObjectId): Promise<boolean>;
  /** The mirror must have the commit. */
  text(commit: ObjectId): Promise<CommitText>;
  /** Commits reachable from `heads` and not from `tip`, all in the mirror; undefined: more than `limit`. */
  beyond(tip: ObjectId, heads: readonly ObjectId[], limit: number): Promise<CommitGraph | undefined>;
  /** False also when the mirror lacks one of them. */
  isAncestor(ancestor: ObjectId, descendant: ObjectId): Promise<boolean>;
  /** Whether the change would add nothing to the state, both in the mirror; false also when they conflict. */
  holds(state: ObjectId, change: ObjectId): Promise<boolean>;
  /** Commits that tags point at, by the given ids; ids that lead to no commit in the mirror are absent. */
  peel(ids: readonly ObjectId[]): Promise<ReadonlyMap<ObjectId, ObjectId>>;
  /** Repeats the merge that a merger made of the same inputs; undefined when there is none, e.g. for a conflict. */
  merge(base: ObjectId, step: ChainStep): Promise<ObjectId | undefined>;
}

export interface MirrorReadDeps {
  /** For reading the mirrors only. */
  readonly git: Git;
  /** Shared by all projects of a connection. */
  readonly texts: CommitTexts;
}

/** Those read last. */
export type CommitTexts = Lru<ObjectId, CommitText>;

/** Characters. */
const MOST_TEXT = 8 * 1024 * 1024;
/** Of one entry besides its texts. */
const ENTRY = 200;

/** Commits never change, and each look at a project needs the texts of all its proposals. */
export function createCommitTexts(): CommitTexts {
  return createLru(
    MOST_TEXT,
    ({ subject, message, author }) => ENTRY + subject.length + message.length + author.length,
  );
}

/** Remembers for later calls what of the project cannot change. */
export function createMirrorReads(repository: Repository, { git, texts }: MirrorReadDeps): MirrorReads {
  return {
    has: async commit => (await repository.reader.missing([commit])).length === 0,
    async text(commit) {
      const text = texts.get(commit) ?? (await readText(repository, commit));
      texts.set(commit, text);
      return text;
    },
    beyond: createGraphMemory({
      list: (tip, heads, limit) => commitsBeyond(git, repository, tip, heads, limit),
      parents: commit => parentsOf(repository, commit),
    }),
    isAncestor: (ancestor, descendant) => repository.isAncestor(ancestor, descendant),
    holds: (state, change) => holds(repository, state, change),
    async peel(ids) {
      const commits = await Promise.all(ids.map(id => repository.reader.resolve(id)));
      return new Map(
        ids.flatMap((id, at) => (commits[at] === undefined ? [] : [[id, commits[at]] as const])),
      );
    },
    async merge(base, step) {
      const outcome = await repository.chain.merge(base, [step]);
      return outcome.kind === 'merged' ? outcome.links[0]?.commit : undefined;
    },
  };
}

/** Messages longer than this are a mistake or an attack; the whole commit counts. */
const LONGEST_COMMIT = 1024 * 1024;

async function readText(repository: Repository, commit: ObjectId): Promise<CommitText> {
  const found = await repository.reader.read(commit, LONGEST_COMMIT);
  switch (found.kind) {
    case 'object':
      return parseCommitText(found.data);
    case 'too-large':
      return { subject: '', message: '', author: '' };
    case 'missing':
      throw new Error(`commit ${commit} is not in ${repository.path}`);
  }
}

async function parentsOf(repository: Repository, commit: ObjectId): Promise<readonly ObjectId[] | undefined> {
  try {
    return (await repository.reader.commit(commit)).parents;
  } catch (error) {
    if (error instanceof MissingObject || error instanceof OverBudget) return undefined;
    throw error;
  }
}

async function commitsBeyond(
  git: Git,
  repository: Repository,
  tip: ObjectId,
  heads: readonly ObjectId[],
  limit: number,
): Promise<CommitGraph | undefined> {
  const result = await git.run(
    ['rev-list', '--parents', `--max-count=${limit + 1}`, '--stdin', '--end-of-options'],
    { gitDir: repository.path, input: `${[...heads, `^${tip}`].join('\n')}\n` },
  );
  if (result.kind !== 'ok') throw new Error(`git rev-list in ${repository.path}: ${result.kind}`);
  const lines = result.stdout.toString('latin1').split('\n').filter(Boolean);
  if (lines.length > limit) return undefined;
  return new Map(
    lines.map(line => {
      const [commit = '', ...parents] = line.split(' ');
      return [parseObjectId(commit), parents.map(parseObjectId)];
    }),
  );
}

async function holds(repository: Repository, state: ObjectId, change: ObjectId): Promise<boolean> {
  try {
    await repository.weigh(state, change);
  } catch (error) {
    if (error instanceof OverBudget) return false;
    throw error;
  }
  const outcome = await repository.chain.merge(state, [{ change, message: '', mode: 'squash-merge' }]);
  return outcome.kind === 'merged' && outcome.links[0]?.tree === (await repository.reader.commit(state)).tree;
}
