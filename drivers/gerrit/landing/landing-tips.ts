/** The tree of a branch's tip, by git: Gerrit's REST API has no tree ids. */

import type { LandingTrouble } from '../../../src/driver/landing-errors.ts';
import type { GitRemote, RemoteUse } from '../../../src/driver/remote.ts';
import { type ObjectId, parseObjectId } from '../../../src/git/objects/object-id.ts';
import { parseRefName } from '../../../src/git/objects/ref-name.ts';
import type { Repository } from '../../../src/git/repository.ts';
import type { BranchName, ProjectKey } from '../../../src/model/project.ts';

/** How a project's repository is reached. */
export interface LandingTipsDeps {
  readonly open: (project: ProjectKey) => Promise<Pick<Repository, 'fetch' | 'reader' | 'isAncestor'>>;
  readonly remoteOf: (project: ProjectKey, use: RemoteUse) => Promise<GitRemote>;
}

/** `commit` is what the branch points at, as Gerrit said. */
export interface LandingTips {
  treeOf(
    project: ProjectKey,
    branch: BranchName,
    commit: string,
  ): Promise<
    { readonly kind: 'tree'; readonly tree: string } | ({ readonly kind: 'unread' } & LandingTrouble)
  >;
  /**
   * What the branch held directly after `revision` had landed, however many others have followed.
   *
   * @param tip read with {@link treeOf} before. @returns `tip` when the branch does not hold the revision, or too much has followed.
   */
  landedAt(project: ProjectKey, tip: string, revision: string): Promise<string>;
}

/** Commits of the branch that are looked through for the one that brought a revision in. */
const MOST_STEPS = 50;

/** A commit that is in the mirror is not fetched. */
export function createLandingTips({ open, remoteOf }: LandingTipsDeps): LandingTips {
  return {
    async treeOf(project, branch, commit) {
      const repository = await open(project);
      const id = parseObjectId(commit);
      const ref = parseRefName(`refs/heads/${branch}`);
      const fetched = await repository.fetch(await remoteOf(project, 'read'), [{ ref, commit: id }]);
      if (fetched.kind !== 'fetched')
        return { kind: 'unread', reason: fetched.reason, text: fetched.message };
      if (fetched.commits[0] === undefined)
        return { kind: 'unread', reason: 'missing-ref', text: `${commit} is not at Gerrit any more` };
      const { tree } = await repository.reader.commit(id);
      return { kind: 'tree', tree };
    },
    async landedAt(project, tip, revision) {
      const repository = await open(project);
      return (await firstWith(repository, parseObjectId(tip), parseObjectId(revision))) ?? tip;
    },
  };
}

/** Along the first parents, which is how the branch moved. */
async function firstWith(
  { reader, isAncestor }: Pick<Repository, 'reader' | 'isAncestor'>,
  tip: ObjectId,
  revision: ObjectId,
): Promise<ObjectId | undefined> {
  if (!(await isAncestor(revision, tip))) return undefined;
  let at = tip;
  for (let step = 0; step < MOST_STEPS; step++) {
    const [before] = (await reader.commit(at)).parents;
    if (at === revision || before === undefined || !(await isAncestor(revision, before))) return at;
    at = before;
  }
  return undefined;
}
