/** Whether a change could be merged into its branch now, by git. */
import { isAncestor, tipOf } from './bare-git.ts';
import { mergedTree } from './merges.ts';
import { type ChangeState, currentPatchSet, type FakeProject } from './world.ts';

/** By repository, tip and commit: objects do not change. */
const known = new Map<string, Promise<boolean>>();

export async function isMergeable({ dir, submitType }: FakeProject, state: ChangeState): Promise<boolean> {
  const tip = await tipOf(dir, state.branch);
  if (tip === undefined) return false;
  const { commit, parents } = currentPatchSet(state);
  if (parents[0] === tip) return true;
  const key = `${dir} ${submitType} ${tip} ${commit}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size > 20_000) known.clear();
  const answer =
    submitType === 'FAST_FORWARD_ONLY'
      ? isAncestor(dir, tip, commit)
      : mergedTree(dir, tip, commit).then(tree => tree !== undefined);
  known.set(key, answer);
  return answer;
}
