/**
 * What of a checkout is run: its work tree as it is, or a change of it merged onto a branch, as a gate would. Made in a repository of
 * ours, from which the mirror of the run fetches.
 */

import type { ObjectId } from '../../git/objects/object-id.ts';
import { parseRefName } from '../../git/objects/ref-name.ts';
import type { Repository } from '../../git/repository.ts';
import type { WorkTree } from '../../git/work-tree.ts';
import { type Refused, refused } from '../commands/refused.ts';

/** The commit that is run, in the mirror. */
export interface CheckoutState {
  readonly kind: 'state';
  readonly commit: ObjectId;
  /** The change itself, where it was merged. */
  readonly change: ObjectId;
  /** What it is, for people: `2 changed files on 3f2a91c0 "Add login"`. */
  readonly text: string;
  /** First line of the commit's message. */
  readonly subject: string;
}

const STATE = parseRefName('refs/heads/state');
const CHANGE = parseRefName('refs/heads/change');
/** Files that are named, of those that are not committed. */
const NAMED = 3;

/** The work tree as it is. */
export async function stateOfWorkTree(
  tree: WorkTree,
  mirror: Repository,
  scratch: string,
): Promise<CheckoutState | Refused> {
  const { commit, changed } = await tree.snapshot();
  const failure = await fetchInto(tree, mirror, scratch, [[STATE, commit]]);
  if (failure !== undefined) return failure;
  const subject = await tree.subjectOf(tree.head);
  const at = `${tree.head.slice(0, 8)} "${subject}"`;
  return {
    kind: 'state',
    commit,
    change: commit,
    subject,
    text: changed.length === 0 ? at : `${changedText(changed)} on ${at}`,
  };
}

/** @param branch onto whose tip, as the checkout has it, the change is merged. */
export async function stateOfChange(
  tree: WorkTree,
  mirror: Repository,
  scratch: string,
  { change, branch }: { readonly change: string; readonly branch: string },
): Promise<CheckoutState | Refused> {
  const commit = await tree.commitOf(change);
  if (commit === undefined)
    return refused(
      `${tree.root} has no commit ${change}; fetch it first, e.g. git fetch origin ${change}, and name it FETCH_HEAD`,
    );
  const tip = await tipOf(tree, branch);
  if (tip === undefined)
    return refused(`${tree.root} has no branch ${branch} to merge ${change} onto; name one with --branch`);
  const failure = await fetchInto(tree, mirror, scratch, [
    [STATE, tip.commit],
    [CHANGE, commit],
  ]);
  if (failure !== undefined) return failure;
  const subject = await tree.subjectOf(commit);
  const merged = await mirror.chain.merge(tip.commit, [{ change: commit, message: `Merge ${change}` }]);
  const text = `${commit.slice(0, 8)} "${subject}" merged onto ${tip.name} ${tip.commit.slice(0, 8)}`;
  switch (merged.kind) {
    case 'merged':
      return {
        kind: 'state',
        commit: merged.links.at(-1)?.commit ?? tip.commit,
        change: commit,
        subject,
        text,
      };
    case 'conflict':
      return refused(`${change} conflicts with ${tip.name} in ${shortened(merged.files)}`);
    case 'unrelated':
      return refused(`${change} shares no commit with ${tip.name}`);
    case 'refused':
      return refused(`${change} cannot be merged onto ${tip.name}: ${merged.text}`);
  }
}

/** The branch as its origin had it last, else the checkout's own. */
async function tipOf(tree: WorkTree, branch: string) {
  for (const [ref, name] of [
    [`refs/remotes/origin/${branch}`, `origin/${branch}`],
    [`refs/heads/${branch}`, branch],
  ] as const) {
    const commit = await tree.commitOf(ref);
    if (commit !== undefined) return { commit, name };
  }
  return undefined;
}

async function fetchInto(
  tree: WorkTree,
  mirror: Repository,
  scratch: string,
  wants: readonly (readonly [ref: typeof STATE, commit: ObjectId])[],
): Promise<Refused | undefined> {
  for (const [ref, commit] of wants) await tree.offer(ref, commit);
  const fetched = await mirror.fetch(
    { url: scratch },
    wants.map(([ref, commit]) => ({ ref, commit })),
  );
  return fetched.kind === 'fetched' ? undefined : refused(`${tree.root} cannot be read: ${fetched.message}`);
}

function changedText(changed: readonly string[]): string {
  return `${changed.length} changed ${changed.length === 1 ? 'file' : 'files'} (${shortened(changed)})`;
}

function shortened(files: readonly string[]): string {
  const more = files.length - NAMED;
  return more > 0 ? `${files.slice(0, NAMED).join(', ')} and ${more} more` : files.join(', ');
}
