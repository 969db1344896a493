/** What a new patch set changed, as Gerrit names it: rules for copying votes look at it. */
import { gitWith, tryGit } from '../bare-git.ts';
import { type CommitText, readCommit } from '../commits.ts';
import type { PatchSetKind } from '../world.ts';

export async function kindOf(dir: string, before: string, after: CommitText): Promise<PatchSetKind> {
  const old = await readCommit(dir, before);
  const sameParents = old.parents.join() === after.parents.join();
  const sameMessage = old.message === after.message;
  if (old.tree === after.tree && sameParents) return sameMessage ? 'NO_CHANGE' : 'NO_CODE_CHANGE';
  if (sameParents || !sameMessage) return 'REWORK';
  const [one, two] = [await patchId(dir, old), await patchId(dir, after)];
  return one !== undefined && one === two ? 'TRIVIAL_REBASE' : 'REWORK';
}

async function patchId(dir: string, { id, parents }: CommitText): Promise<string | undefined> {
  const [parent] = parents;
  if (parent === undefined) return undefined;
  const patch = await tryGit(dir, 'diff-tree', '-p', '-r', parent, id);
  if (patch === undefined) return undefined;
  return (await gitWith(dir, ['patch-id', '--stable'], { input: `${patch}\n` })).split(' ')[0];
}
