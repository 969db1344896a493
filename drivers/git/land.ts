/**
 * Landing a change: the branch goes from where the test began to exactly the tested commit, and proposal and approval
 * go away, in one atomic push in which every ref has its own lease.
 *
 *     refs/heads/master              before → commit      the compare-and-set of the gate
 *     refs/heads/for/master/login    change → gone        a commit pushed meanwhile is never lost
 *     refs/heads/gate/master/login   approved → gone
 *
 * A repetition after a crash or a lost answer finds the commit in the branch and only cleans up. When the push is
 * refused, the refs are listed again and the answer follows from them, not from the text of the refusal:
 *
 *     the tested commit is in the branch      landed
 *     the branch is elsewhere                 base-moved: test again
 *     proposal or approval is elsewhere       refused
 *     nothing moved, a rule of the host       refused, with the host's text
 *     nothing moved, no rule                  host trouble (a lock, a full disk): HostFailed, try again later
 */

import type { LandingOutcome, LandingRequest } from '../../src/driver/landing.ts';
import { isWorthAnotherTry } from '../../src/git/failure-table.ts';
import type { ChainStep } from '../../src/git/merge-chain.ts';
import { type ObjectId, parseObjectId } from '../../src/git/object-id.ts';
import type { RefChange } from '../../src/git/push.ts';
import { parseRefName, type RefName } from '../../src/git/ref-name.ts';
import { changeText, type ProposedChange } from '../../src/model/change.ts';
import type { LandedBranch } from '../../src/model/landed.ts';
import { mergeMessage } from './merge-message.ts';
import { branchRef, parseChangeId, type Refs, type Templates } from './ref-view.ts';
import { HostFailed, type ProjectGit } from './remote-git.ts';

/** One change on its way into its branch. */
interface Landing {
  readonly change: ProposedChange;
  /** The change's own commit. */
  readonly head: ObjectId;
  /** Where the branch must be. */
  readonly before: ObjectId;
  /** Where it goes. */
  readonly commit: ObjectId;
  /** How the merger made `commit` of `before` and `head`. */
  readonly step: ChainStep;
  /** What the host holds then: exactly what is pushed. */
  readonly landed: LandedBranch;
}

/** Where the three refs of a landing are. */
interface Places {
  readonly branch: RefName;
  readonly tip: ObjectId | undefined;
  readonly proposal: RefName;
  readonly proposed: ObjectId | undefined;
  readonly approval: RefName;
  readonly approved: ObjectId | undefined;
}

/** @throws HostFailed when the remote cannot be reached, did nothing, or the outcome is unknown; Error when the tested commit is not available. */
export async function land(
  change: ProposedChange,
  tested: NonNullable<LandingRequest['tested']>,
  templates: Templates,
  git: ProjectGit,
): Promise<LandingOutcome> {
  const landing = landingOf(change, tested);
  const name = parseChangeId(change.id);
  if (name === undefined) return { kind: 'refused', text: `${change.id} is not the id of a proposal` };
  const approval = branchRef(templates.approvals.format(name));
  const readPlaces = async () => placesOf(change, approval, await git.refs());

  const places = await readPlaces();
  if (await holds(places, landing, git)) return cleanUp(places, landing, git);
  const obstacle = obstacleIn(places, landing);
  if (obstacle !== undefined) return obstacle;
  await ensureTested(landing, places, git);
  const pushed = await git.push(pushOf(places, landing));
  if (pushed.kind === 'pushed') return done(landing);

  const after = await readPlaces();
  if (await holds(after, landing, git)) return cleanUp(after, landing, git);
  const moved = obstacleIn(after, landing);
  if (moved !== undefined) return moved;
  if (after.approved !== places.approved)
    return { kind: 'refused', text: 'its approval changed while it was merged' };
  if (isWorthAnotherTry(pushed.nature))
    throw new HostFailed(change.project, { message: `the push was not done: ${pushed.text}` });
  return { kind: 'refused', text: `the code host refused the push: ${pushed.text}` };
}

/** What has landed, empty: nothing; changes nothing. @throws HostFailed when the remote cannot be reached. */
export async function landedSoFar(
  change: ProposedChange,
  tested: NonNullable<LandingRequest['tested']>,
  git: ProjectGit,
): Promise<readonly LandedBranch[]> {
  const branch = branchRef(change.branch);
  const refs = await git.refs();
  const landing = landingOf(change, tested);
  return (await holds({ branch, tip: refs.get(branch) }, landing, git)) ? [landing.landed] : [];
}

function done({ landed }: Landing): LandingOutcome {
  return { kind: 'landed', landed: [landed] };
}

function landingOf(change: ProposedChange, tested: NonNullable<LandingRequest['tested']>): Landing {
  const head = parseObjectId(change.commit);
  const [own] = tested.inputs ?? [];
  return {
    change,
    head,
    step: { change: head, message: own?.message ?? mergeMessage(change), mode: own?.mode ?? 'merge' },
    before: parseObjectId(tested.before),
    commit: parseObjectId(tested.commit),
    landed: {
      project: change.project,
      branch: change.branch,
      commit: tested.commit,
      tree: tested.tree,
    },
  };
}

function placesOf(change: ProposedChange, approval: RefName, refs: Refs): Places {
  const [branch, proposal] = [branchRef(change.branch), parseRefName(change.ref)];
  return {
    branch,
    tip: refs.get(branch),
    proposal,
    proposed: refs.get(proposal),
    approval,
    approved: refs.get(approval),
  };
}

/** Whether the branch holds the tested commit already. */
async function holds(
  { branch, tip }: Pick<Places, 'branch' | 'tip'>,
  { before, commit }: Landing,
  git: ProjectGit,
): Promise<boolean> {
  if (tip === commit) return true;
  if (tip === undefined || tip === before) return false;
  if ((await git.bring([{ ref: branch, commit: tip }])).length > 0) return false;
  return git.isAncestor(commit, tip);
}

function obstacleIn(
  { tip, proposed }: Places,
  { change, head, before }: Landing,
): LandingOutcome | undefined {
  if (tip === undefined) return { kind: 'refused', text: `branch ${change.branch} is gone` };
  if (tip !== before) {
    return {
      kind: 'base-moved',
      text: `${change.branch} is at ${tip.slice(0, 8)}, the test began at ${before.slice(0, 8)}`,
    };
  }
  if (proposed === undefined) return { kind: 'refused', text: 'the proposal was withdrawn' };
  if (proposed !== head) {
    return {
      kind: 'refused',
      text: `the proposal is at ${proposed.slice(0, 8)}, tested was ${head.slice(0, 8)}`,
    };
  }
  return undefined;
}

/** The merger of another machine may have made the commit: the same inputs give the same commit here. */
async function ensureTested(
  { change, head, before, commit, step }: Landing,
  places: Places,
  git: ProjectGit,
): Promise<void> {
  if (await git.has(commit)) return;
  const missing = await git.bring([
    { ref: places.branch, commit: before },
    { ref: places.proposal, commit: head },
  ]);
  const made = missing.length > 0 ? undefined : await git.merge(before, step);
  if (made !== commit)
    throw new Error(
      `tested commit ${commit} of ${changeText(change)} is not on this machine and cannot be made again`,
    );
}

function pushOf(places: Places, { head, before, commit }: Landing): RefChange[] {
  return [
    { ref: places.branch, from: before, to: commit },
    { ref: places.proposal, from: head, to: null },
    ...(places.approved === undefined ? [] : [{ ref: places.approval, from: places.approved, to: null }]),
  ];
}

/** Removes the refs that an interrupted call, or the landing of another change of the item, left. The change has landed even if this fails. */
async function cleanUp(places: Places, landing: Landing, git: ProjectGit): Promise<LandingOutcome> {
  const { head } = landing;
  if (places.proposed !== head) return done(landing);
  await git.push([
    { ref: places.proposal, from: places.proposed, to: null },
    ...(places.approved === undefined ? [] : [{ ref: places.approval, from: places.approved, to: null }]),
  ]);
  return done(landing);
}
