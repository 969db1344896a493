/** What Gerrit's submit types do to a branch, with git's own merges. */
import { isAncestor, NO_COMMIT, tipOf, writeRefFile } from '../bare-git.ts';
import { type CommitText, fileStats, readCommit } from '../commits.ts';
import type { RefMove } from '../events.ts';
import { commitTree, mergedTree, treeOnTop } from '../merges.ts';
import {
  currentPatchSet,
  type FakeAccount,
  type FakeChange,
  type FakeProject,
  type GerritWorld,
  type PatchSet,
  votesOn,
} from '../world.ts';
import { changeRefs } from './note.ts';

export interface LandedChange {
  readonly change: FakeChange;
  /** A patch set that submitting made; null: the change's own commit landed. */
  readonly patchSet: PatchSet | null;
  /** Of that patch set. */
  readonly ref: RefMove | null;
  /** For the history: `merged`, `rebased and submitted as <commit>`, `cherry-picked as <commit>`. */
  readonly how: string;
}

export interface LandingPlan {
  readonly kind: 'plan';
  readonly project: FakeProject;
  readonly branch: string;
  readonly before: string;
  readonly after: string;
  readonly changes: readonly LandedChange[];
}

export type Landing =
  | LandingPlan
  | { readonly kind: 'refused'; readonly change: FakeChange; readonly text: string };

const CONFLICT =
  'Change could not be merged due to a path conflict. Please rebase the change locally and upload the rebased commit for review.';
const NO_FAST_FORWARD =
  'Project policy requires all submissions to be a fast-forward. Please rebase the change locally and upload again for review.';

/** Makes the commits; no ref of a branch is moved. @param changes of one branch, parents first */
export async function landOnBranch(
  world: GerritWorld,
  by: FakeAccount,
  changes: readonly FakeChange[],
): Promise<Landing> {
  const [first] = changes;
  if (first === undefined) throw new Error('there is a change to land');
  const { project, now } = first;
  const before = await tipOf(project.dir, now.branch);
  if (before === undefined) return { kind: 'refused', change: first, text: `Branch ${now.branch} not found` };
  const plan = { kind: 'plan', project, branch: now.branch, before } as const;
  const merges = ['FAST_FORWARD_ONLY', 'MERGE_IF_NECESSARY', 'MERGE_ALWAYS'].includes(project.submitType);
  const done = merges
    ? await mergeHeads(world, by, before, changes)
    : await rewrite(world, by, before, changes);
  return 'kind' in done ? done : { ...plan, ...done };
}

type Done = Pick<LandingPlan, 'after' | 'changes'> | Extract<Landing, { kind: 'refused' }>;

/** Only those that no other one is built on are merged; the others come with them. */
async function mergeHeads(
  world: GerritWorld,
  by: FakeAccount,
  before: string,
  changes: readonly FakeChange[],
): Promise<Done> {
  const parents = new Set(changes.flatMap(each => currentPatchSet(each.now).parents));
  const heads = changes.filter(each => !parents.has(currentPatchSet(each.now).commit));
  let tip = before;
  for (const head of heads) {
    const { dir, submitType } = head.project;
    const { commit } = currentPatchSet(head.now);
    const isForward = await isAncestor(dir, tip, commit);
    if (submitType === 'FAST_FORWARD_ONLY' && !isForward)
      return { kind: 'refused', change: head, text: NO_FAST_FORWARD };
    if (isForward && submitType !== 'MERGE_ALWAYS') {
      tip = commit;
      continue;
    }
    const tree = isForward ? (await readCommit(dir, commit)).tree : await mergedTree(dir, tip, commit);
    if (tree === undefined) return { kind: 'refused', change: head, text: CONFLICT };
    const below = changes.filter(each => each === head || !heads.includes(each));
    const committer = { name: 'Gerrit Code Review', email: 'gerrit@127.0.0.1' };
    const message = mergeMessage(below, head);
    tip = await commitTree(dir, tree, {
      parents: [tip, commit],
      message,
      author: by,
      committer,
      at: world.now(),
    });
  }
  return {
    after: tip,
    changes: changes.map(change => ({ change, patchSet: null, ref: null, how: 'merged' })),
  };
}

function mergeMessage(changes: readonly FakeChange[], head: FakeChange): string {
  const into = head.now.branch === 'master' ? '' : ` into ${head.now.branch}`;
  const subject = (each: FakeChange) => currentPatchSet(each.now).message.split('\n')[0] ?? '';
  if (changes.length === 1) return `Merge "${subject(head)}"${into}\n`;
  const lines = changes.toReversed().map(each => `  ${subject(each)}`);
  return `Merge changes ${changes.map(each => each.changeId.slice(0, 9)).join(',')}${into}\n\n* changes:\n${lines.join('\n')}\n`;
}

/** Rebase and cherry-pick: each change gets a patch set with the commit that lands. */
async function rewrite(
  world: GerritWorld,
  by: FakeAccount,
  before: string,
  changes: readonly FakeChange[],
): Promise<Done> {
  let tip = before;
  const landed: LandedChange[] = [];
  for (const change of changes) {
    const { project } = change;
    const { dir, submitType } = project;
    const own = await readCommit(dir, currentPatchSet(change.now).commit);
    if (submitType === 'REBASE_IF_NECESSARY' && own.parents[0] === tip) {
      tip = own.id;
      landed.push({ change, patchSet: null, ref: null, how: 'merged' });
      continue;
    }
    const tree = own.parents[0] === tip ? own.tree : await treeOnTop(dir, own, tip);
    if (tree === undefined) return { kind: 'refused', change, text: CONFLICT };
    const message = submitType === 'REBASE_IF_NECESSARY' ? own.message : withFooters(world, change, own);
    tip = await commitTree(dir, tree, {
      parents: [tip],
      message,
      author: own.author,
      committer: by,
      at: world.now(),
    });
    landed.push(await newPatchSet(world, by, change, tip));
  }
  return { after: tip, changes: landed };
}

/** As Gerrit adds them to what it picks, or always rebases. */
function withFooters({ origin }: GerritWorld, change: FakeChange, { message }: CommitText): string {
  const people = votesOn(change.now).filter(vote => vote.value > 0);
  const named = people.map(({ label, by }) => {
    const footer = label === 'Code-Review' ? 'Reviewed-by' : label === 'Verified' ? 'Tested-by' : label;
    return `${footer}: ${by.name} <${by.email}>`;
  });
  const url = `Reviewed-on: ${origin}/c/${change.project.name}/+/${change.number}`;
  return `${message.trimEnd()}\n${[url, ...new Set(named)].join('\n')}\n`;
}

async function newPatchSet(
  world: GerritWorld,
  by: FakeAccount,
  change: FakeChange,
  commit: string,
): Promise<LandedChange> {
  const { project, now } = change;
  const text = await readCommit(project.dir, commit);
  const stats = await fileStats(project.dir, commit);
  const number = currentPatchSet(now).number + 1;
  const ref = `${changeRefs(change.number)}/${number}`;
  const sameCode = text.tree === (await readCommit(project.dir, currentPatchSet(now).commit)).tree;
  await writeRefFile(project.dir, ref, commit);
  const patchSet: PatchSet = {
    number,
    commit,
    parents: text.parents,
    ref,
    kind: sameCode ? 'NO_CODE_CHANGE' : 'TRIVIAL_REBASE',
    uploader: by,
    at: world.now(),
    description: null,
    insertions: stats.reduce((sum, each) => sum + each.inserted, 0),
    deletions: stats.reduce((sum, each) => sum + each.deleted, 0),
    message: text.message,
    author: text.author,
  };
  const how =
    project.submitType === 'CHERRY_PICK'
      ? `cherry-picked as ${commit}`
      : `rebased and submitted as ${commit}`;
  return { change, patchSet, ref: { project, ref, before: NO_COMMIT, after: commit, by }, how };
}
