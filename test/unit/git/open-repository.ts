/** Puts the parts of the git room together over one bare repository, for the tests of these parts. */
import { createGit, type Git } from '../../../src/git/git.ts';
import { createMergeChain, type MergeChain } from '../../../src/git/merge-chain.ts';
import { createMergeTree, type MergeTree, type MergeTreeMode } from '../../../src/git/merge-tree.ts';
import type { ObjectId } from '../../../src/git/object-id.ts';
import { createObjectReader, type ObjectReader } from '../../../src/git/object-reader.ts';
import { createObjectWriter, type ObjectWriter } from '../../../src/git/object-writer.ts';

export const IDENTITY = { name: 'Gatehouse', email: 'gatehouse@example.org' };

export interface OpenRepository extends AsyncDisposable {
  readonly git: Git;
  readonly reader: ObjectReader;
  readonly writer: ObjectWriter;
  readonly mergeTree: MergeTree;
  readonly chain: MergeChain;
}

export function openRepository(gitDir: string, mode: MergeTreeMode = 'unbuffered-coprocess'): OpenRepository {
  const git = createGit({ identity: IDENTITY });
  const reader = createObjectReader(git, gitDir);
  const writer = createObjectWriter(gitDir);
  const mergeTree = createMergeTree(git, gitDir, mode);
  const isAncestor = async (ancestor: ObjectId, descendant: ObjectId) =>
    (await git.run(['merge-base', '--is-ancestor', ancestor, descendant], { gitDir })).kind === 'ok';
  const chain = createMergeChain({ reader, writer, mergeTree, isAncestor, identity: IDENTITY });
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
