/** Decides whether a proposal that is gone has landed or was withdrawn. */
import type { ObjectId } from '../../src/git/objects/object-id.ts';
import type { CommitGraph } from './commit-graph.ts';
import type { ProjectGit } from './remote-git.ts';

/** Commits of the branch that are compared, newest first. */
const MOST_COMPARED = 20;
/** Commits beyond the tip of the last reading that are listed for that. */
const MOST_LISTED = 500;

/**
 * True: the branch holds the proposal's commit, or, landed by squash, rebase or cherry-pick, all that it changes: it would add nothing to
 * one of the states of the branch since the last reading. A landing moves the branch and deletes the proposal in one push, so one
 * reading finds both.
 *
 * @param before the branch's tip at the last reading; undefined: there was none.
 */
export async function proposalHasLanded(
  commit: ObjectId,
  { before, tip }: { readonly before: ObjectId | undefined; readonly tip: ObjectId },
  git: Pick<ProjectGit, 'isAncestor' | 'beyond' | 'holds' | 'has'>,
): Promise<boolean> {
  if (await git.isAncestor(commit, tip)) return true;
  if (before === undefined || before === tip || !(await git.has(commit))) return false;
  const graph = (await git.beyond(before, [tip], MOST_LISTED)) ?? new Map([[tip, []]]);
  for (const state of statesSince(tip, graph)) if (await git.holds(state, commit)) return true;
  return false;
}

/** The tip and its first parents, as far as they are new. */
function statesSince(tip: ObjectId, graph: CommitGraph): readonly ObjectId[] {
  const states: ObjectId[] = [];
  for (let at: ObjectId | undefined = tip; at !== undefined && states.length < MOST_COMPARED; ) {
    if (!graph.has(at)) break;
    states.push(at);
    at = graph.get(at)?.[0];
  }
  return states;
}
