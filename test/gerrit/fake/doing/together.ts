/** Changes that are submitted with a change: those it is built on and, where the server says so, those of its topic. */
import { currentPatchSet, type FakeChange, type GerritWorld } from '../world.ts';
import { changeOfCommit } from './upload.ts';

/** Parents first. Of a topic: every open change of it, with what it is built on. */
export async function submittedTogether(
  world: GerritWorld,
  change: FakeChange,
): Promise<readonly FakeChange[]> {
  const { topic } = change.now;
  const roots =
    world.submitWholeTopic && topic !== null
      ? [...world.changes.values()].filter(each => each.now.status === 'NEW' && each.now.topic === topic)
      : [change];
  const found: FakeChange[] = [];
  for (const root of [...roots, change])
    for (const each of [...openParents(world, root).toReversed(), root])
      if (!found.includes(each)) found.push(each);
  return found;
}

/** Open changes that the change is built on, nearest first. None where each change is picked for itself. */
export function openParents(world: GerritWorld, change: FakeChange): readonly FakeChange[] {
  if (change.project.submitType === 'CHERRY_PICK') return [];
  const found: FakeChange[] = [];
  for (let at = change; ; ) {
    const parent = parentOf(world, at);
    if (parent === undefined || parent.now.status === 'MERGED' || found.includes(parent)) return found;
    found.push(parent);
    at = parent;
  }
}

function parentOf(world: GerritWorld, { project, now }: FakeChange): FakeChange | undefined {
  const [commit] = currentPatchSet(now).parents;
  const parent = commit === undefined ? undefined : changeOfCommit(world, project, commit);
  return parent?.now.branch === now.branch ? parent : undefined;
}

/** Why a change cannot be submitted on the commit that it is built on; undefined: it can. */
export function outdatedParent(world: GerritWorld, change: FakeChange): string | undefined {
  const parent = parentOf(world, change);
  if (parent === undefined || parent.now.status === 'MERGED' || change.project.submitType === 'CHERRY_PICK')
    return undefined;
  const { commit, parents } = currentPatchSet(change.now);
  const built = parent.now.patchSets.find(each => each.commit === parents[0]);
  const newest = currentPatchSet(parent.now);
  if (parent.now.status === 'ABANDONED')
    return `Depends on change that was not submitted. Commit ${commit} depends on commit ${parents[0]} of change ${parent.number} which cannot be merged. Is the change of this commit not visible or was it abandoned?`;
  if (built === newest) return undefined;
  return `Depends on change that was not submitted. Commit ${commit} depends on commit ${parents[0]}, which is outdated patch set ${built?.number} of change ${parent.number}. The latest patch set is ${newest.number}.`;
}
