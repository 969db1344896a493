/**
 * One project's bare mirror with everything that works on it. Made by `repository-cache.ts`, one per project and process.
 *
 *     const repository = await cache.repository('github', 'acme/app');
 *     const fetched = await repository.fetch(remote, [{ ref: main }, { ref: pull7, commit: head }]);
 *     const outcome = await repository.chain.merge(base, [{ change: head, message }]);
 *     await repository.push(remote, [{ ref: main, from: base, to: outcome.links[0].commit }]);
 *
 * Fetches go through one queue, notes through another; merges, reads and pushes wait for neither.
 */

import { consolidate, FETCHES_PER_CONSOLIDATION } from './disk/consolidate.ts';
import { createMergeChain, type MergeChain } from './merge/merge-chain.ts';
import { createMergeTree, type MergeTreeMode } from './merge/merge-tree.ts';
import { createOwnCommits } from './merge/own-commits.ts';
import { createResolve } from './merge/resolve-trees.ts';
import { createAncestry } from './objects/ancestry.ts';
import { changedPaths, countDifferences } from './objects/changed-paths.ts';
import type { ObjectId } from './objects/object-id.ts';
import { createObjectReader, type ObjectReader } from './objects/object-reader.ts';
import { createObjectWriter, type ObjectWriter } from './objects/object-writer.ts';
import { createTreeBudget, type TreeBudget } from './objects/tree-budget.ts';
import { createTreeSizes, type TreeSize } from './objects/tree-size.ts';
import type { CoprocessBudget } from './process/coprocess-budget.ts';
import type { Git } from './process/git.ts';
import type { Remote } from './process/remote.ts';
import type { RemoteFailure } from './process/remote-failure.ts';
import { createAbsentRefs } from './remote/absent-refs.ts';
import { type FetchOutcome, type FetchRequest, fetchTogether } from './remote/fetch.ts';
import { createLooseRefs } from './remote/loose-refs.ts';
import { createMirrorRest } from './remote/mirror-rest.ts';
import { createNoteLane, type NoteOutcome, type NoteRequest } from './remote/notes.ts';
import { type PushOutcome, push, type RefChange } from './remote/push.ts';
import { lsRemote, type RemoteRefs } from './remote/remote-refs.ts';
import type { Want } from './remote/run-fetch.ts';
import { createTooLargeCommits } from './remote/too-large.ts';
import { createBatcher } from './support/batcher.ts';
import { createLru } from './support/lru.ts';
import { createSerial } from './support/serial.ts';
import type { UploadPackHost } from './wire/upload-pack-host.ts';

/** An open mirror. Remotes come with each call, because their credentials may be renewed. */
export interface Repository {
  /** The bare repository's directory; other processes may fetch any commit from it by id. */
  readonly path: string;
  readonly reader: ObjectReader;
  readonly writer: ObjectWriter;
  readonly chain: MergeChain;
  /**
   * Brings refs and commits into the mirror. Calls that wait at the same time share one `git fetch`; commits that are in the
   * mirror need none.
   *
   * @param onTurn called when the wait for other writers of the mirror is over and the fetch begins.
   */
  fetch(remote: Remote, wants: readonly Want[], onTurn?: () => void): Promise<FetchOutcome>;
  /** The remote's refs now, see `remote-refs.ts`; equal calls that wait at the same time share one answer. */
  lsRemote(remote: Remote, prefixes?: readonly string[]): Promise<RemoteRefs | RemoteFailure>;
  /** Moves refs of the remote, all or none; the objects must be here. See `push.ts`. */
  push(remote: Remote, changes: readonly RefChange[]): Promise<PushOutcome>;
  /** See `notes.ts`; notes wait for other notes only. */
  appendNote(remote: Remote, note: NoteRequest): Promise<NoteOutcome>;
  /** Both commits must be here. */
  isAncestor(ancestor: ObjectId, descendant: ObjectId): Promise<boolean>;
  /** Paths that differ between two commits; see `changed-paths.ts`. @throws OverBudget */
  changedPaths(before: ObjectId, after: ObjectId, budget: TreeBudget): Promise<string[]>;
  /**
   * Checks that a change is small enough to be merged: git would read every path of it. Each change is checked once, against
   * the first base it is asked about.
   *
   * @throws OverBudget
   */
  weigh(base: ObjectId, change: ObjectId): Promise<void>;
  /** What the commit takes when it is checked out; see `tree-size.ts`. @throws OverBudget */
  checkoutSize(commit: ObjectId): Promise<TreeSize>;
  /** Since it was opened. */
  counters(): RepositoryCounters;
  /** Ends its coprocesses after their open questions. */
  close(): Promise<void>;
}

/** Counts of the expensive operations. */
export interface RepositoryCounters {
  readonly fetches: number;
  readonly listings: number;
  readonly pushes: number;
  readonly merges: number;
}

/** Passed by the cache, which shares all but `path` among its repositories. */
export interface RepositoryOptions {
  readonly git: Git;
  readonly path: string;
  readonly mergeTreeMode: MergeTreeMode;
  readonly budget: CoprocessBudget;
  /** Closed by the caller. */
  readonly host: UploadPackHost;
  /** Reports trouble that fails no call. */
  readonly warn: (facts: object, text: string) => void;
}

/** Changes cached as small enough, about 100 bytes each. */
const WEIGHED = 10_000;

/** @param options `path` must be a mirror already (`mirror-directory.ts`). Starts no process yet. */
export function openRepository({
  git,
  path,
  mergeTreeMode,
  budget,
  host,
  warn,
}: RepositoryOptions): Repository {
  const counts = { fetches: 0, listings: 0, pushes: 0 };
  const looseRefs = createLooseRefs();
  const reader = createObjectReader(git, path, { budget });
  const writer = createObjectWriter(path, reader.wrote);
  const mergeTree = createMergeTree(git, path, mergeTreeMode, { budget });
  const serial = createSerial();
  const sizeOf = createTreeSizes(reader);
  const weighed = createLru<ObjectId, true>(WEIGHED);
  let consolidatedAt = 0;
  const isAncestor = createAncestry(git, path, reader);
  const ownCommits = createOwnCommits(git, path);
  const identity = git.identity;
  const resolve = createResolve({ reader, writer, mergeTree, ownCommits, identity });
  const chain = createMergeChain({
    ...{ reader, writer, mergeTree, resolve, isAncestor, identity },
    ownCommits,
    async weighTrees(before, after) {
      await countDifferences(reader, before, after, createTreeBudget());
    },
  });
  const fetchDeps = {
    git,
    gitDir: path,
    reader,
    writer,
    tooLarge: createTooLargeCommits(),
    absent: createAbsentRefs(),
    host,
    mirrorRest: createMirrorRest(),
    onMirrorFailure: ({ message }: RemoteFailure) =>
      warn(
        { repository: path, error: message },
        'the mirror of the code host did not serve; it rests for five minutes',
      ),
    onFetch: () => {
      counts.fetches += 1;
    },
    onListing: () => {
      counts.listings += 1;
    },
  };
  const fetchNow = (requests: readonly FetchRequest[]) => fetchTogether(fetchDeps, requests);
  const fetchBatched = createBatcher((requests: readonly (FetchRequest & { onTurn: () => void })[]) =>
    serial(async () => {
      for (const { onTurn } of requests) onTurn();
      const outcomes = await fetchNow(requests);
      if (counts.fetches - consolidatedAt >= FETCHES_PER_CONSOLIDATION) void serial(tidyUp);
      return outcomes;
    }),
  );

  /** In the queue of fetches, because it rewrites refs; its failure fails no fetch. */
  async function tidyUp(): Promise<void> {
    consolidatedAt = counts.fetches;
    try {
      await consolidate(git, path);
    } catch (error) {
      warn({ repository: path, error: String(error) }, 'the mirror could not be consolidated');
    }
  }

  async function fetch(remote: Remote, wants: readonly Want[], onTurn = nothing): Promise<FetchOutcome> {
    if (wants.every(want => want.commit !== undefined)) {
      // A call that needs nothing new does not wait for another's fetch.
      const commits = await Promise.all(
        wants.flatMap(want => (want.commit === undefined ? [] : reader.resolve(want.commit))),
      );
      if (!commits.includes(undefined)) return { kind: 'fetched', commits };
    }
    return fetchBatched({ remote, wants, onTurn });
  }

  async function treesOf(before: ObjectId, after: ObjectId): Promise<readonly [ObjectId, ObjectId]> {
    const [old, fresh] = await Promise.all([reader.commit(before), reader.commit(after)]);
    return [old.tree, fresh.tree];
  }

  interface Listing {
    readonly remote: Remote;
    readonly prefixes: readonly string[];
  }
  const list = createBatcher(async (asked: readonly Listing[]) => {
    const remote = asked.at(-1)?.remote;
    const answers = new Map<string, Promise<RemoteRefs | RemoteFailure>>();
    return Promise.all(
      asked.map(({ prefixes, remote: own }) => {
        const key = JSON.stringify(prefixes);
        const answer = answers.get(key) ?? listNow(remote ?? own, prefixes);
        answers.set(key, answer);
        return answer;
      }),
    );
  });
  function listNow(remote: Remote, prefixes: readonly string[]): Promise<RemoteRefs | RemoteFailure> {
    counts.listings += 1;
    return lsRemote(git, remote, prefixes, looseRefs);
  }

  function pushNow(remote: Remote, changes: readonly RefChange[]): Promise<PushOutcome> {
    counts.pushes += 1;
    return push({ git, gitDir: path, isAncestor }, remote, changes);
  }

  const noteLane = createNoteLane({
    ...{ identity, reader, writer },
    push: pushNow,
    async fetch(remote, ref) {
      const [outcome] = await fetchNow([{ remote, wants: [{ ref }] }]);
      return outcome ?? { kind: 'fetched', commits: [] };
    },
  });

  return {
    path,
    reader,
    writer,
    chain,
    fetch,
    lsRemote: (remote, prefixes = []) => list({ remote, prefixes }),
    push: pushNow,
    appendNote: (remote, note) => noteLane({ remote, note }),
    isAncestor,
    changedPaths: async (before, after, budget) =>
      changedPaths(reader, ...(await treesOf(before, after)), budget),
    async weigh(base, change) {
      if (weighed.get(change) === true) return;
      await countDifferences(reader, ...(await treesOf(base, change)), createTreeBudget());
      weighed.set(change, true);
    },
    checkoutSize: async commit => sizeOf((await reader.commit(commit)).tree),
    counters: () => ({ ...counts, merges: chain.merges() }),
    async close() {
      await Promise.all([reader.close(), mergeTree.close()]);
    },
  };
}

function nothing(): void {}
