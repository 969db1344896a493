/** Puts the parts of the git room together over one bare repository, for the tests of these parts. */

import { createMergeChain, type MergeChain } from '../../../src/git/merge/merge-chain.ts';
import { createMergeTree, type MergeTree, type MergeTreeMode } from '../../../src/git/merge/merge-tree.ts';
import { createOwnCommits } from '../../../src/git/merge/own-commits.ts';
import { createResolve } from '../../../src/git/merge/resolve-trees.ts';
import { createAncestry } from '../../../src/git/objects/ancestry.ts';
import { countDifferences } from '../../../src/git/objects/changed-paths.ts';
import { createObjectReader, type ObjectReader } from '../../../src/git/objects/object-reader.ts';
import { createObjectWriter, type ObjectWriter } from '../../../src/git/objects/object-writer.ts';
import { createTreeBudget } from '../../../src/git/objects/tree-budget.ts';
import { createGit, type Git } from '../../../src/git/process/git.ts';
import { startAside } from '../../../src/git/starter/start-aside.ts';

export const IDENTITY = { name: 'Gatehouse', email: 'gatehouse@example.org' };

export interface OpenRepository extends AsyncDisposable {
  readonly git: Git;
  readonly reader: ObjectReader;
  readonly writer: ObjectWriter;
  readonly mergeTree: MergeTree;
  readonly chain: MergeChain;
}

export function openRepository(gitDir: string, mode: MergeTreeMode = 'unbuffered-coprocess'): OpenRepository {
  const git = createGit({ identity: IDENTITY, start: startAside });
  const reader = createObjectReader(git, gitDir);
  const writer = createObjectWriter(gitDir, reader.wrote);
  const mergeTree = createMergeTree(git, gitDir, mode);
  const isAncestor = createAncestry(git, gitDir, reader);
  const ownCommits = createOwnCommits(git, gitDir);
  const identity = git.identity;
  const resolve = createResolve({ reader, writer, mergeTree, ownCommits, identity });
  const chain = createMergeChain({
    ...{ reader, writer, mergeTree, resolve, isAncestor, identity: IDENTITY },
    ownCommits,
    async weighTrees(before, after) {
      await countDifferences(reader, before, after, createTreeBudget());
    },
  });
  return {
    git,
    reader,
    writer,
    mergeTree,
    chain,
    async [Symbol.asyncDispose]() {
      await Promise.all([reader.close(), mergeTree.close()]);
    },
  };
}
