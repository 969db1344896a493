/** A new commit message by REST: a new patch set with the same tree. */
import { mayEdit } from '../authority.ts';
import { changeIdIn, readCommit } from '../commits.ts';
import { commitTree } from '../merges.ts';
import { RestRefused } from '../rest-refused.ts';
import { currentPatchSet, type FakeAccount, type FakeChange, type GerritWorld } from '../world.ts';
import { upload } from './upload.ts';

export async function editMessage(
  world: GerritWorld,
  by: FakeAccount,
  change: FakeChange,
  text: string,
): Promise<void> {
  if (!mayEdit(by, change)) throw new RestRefused(403, 'modifying commit message not permitted');
  if (change.now.status !== 'NEW') throw new RestRefused(409, `change is ${change.now.status.toLowerCase()}`);
  const message = `${text.trimEnd()}\n`;
  if (changeIdIn(message) !== change.changeId) throw new RestRefused(409, 'wrong Change-Id footer');
  const { dir } = change.project;
  const old = await readCommit(dir, currentPatchSet(change.now).commit);
  if (old.message === message) throw new RestRefused(409, 'new and existing commit message are the same');
  const { parents, author, tree } = old;
  const id = await commitTree(dir, tree, { parents, message, author, committer: by, at: world.now() });
  const commit = await readCommit(dir, id);
  const description = 'Edit commit message';
  await upload(
    world,
    by,
    [{ project: change.project, branch: change.now.branch, commit, changeId: change.changeId, description }],
    {},
  );
}
