/** One change on its way into its branch: what is pushed, where its refs are, and what stands in the way. */
import type { LandingOutcome, LandingRequest } from '../../src/driver/landing.ts';
import type { ChainStep } from '../../src/git/merge/merge-chain.ts';
import { type ObjectId, parseObjectId } from '../../src/git/objects/object-id.ts';
import { parseRefName, type RefName } from '../../src/git/objects/ref-name.ts';
import { changeText, type ProposedChange } from '../../src/model/change.ts';
import type { LandedBranch } from '../../src/model/landed.ts';
import { mergeMessage } from './merge-message.ts';
import { branchRef, parseChangeId, type Refs, type Templates } from './ref-view.ts';
import type { ProjectGit } from './remote-git.ts';

/** A proposal and what was tested of it. */
export interface TestedChange {
  readonly change: ProposedChange;
  readonly tested: NonNullable<LandingRequest['tested']>;
}

/** The ids and names of one landing. */
export interface LandingStep {
  readonly change: ProposedChange;
  readonly branch: RefName;
  readonly proposal: RefName;
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

/** The same for each try. */
export function landingStep({ change, tested }: TestedChange): LandingStep {
  const head = parseObjectId(change.commit);
  const [own] = tested.inputs ?? [];
  return {
    change,
    branch: branchRef(change.branch),
    proposal: parseRefName(change.ref),
    head,
    step: { change: head, message: own?.message ?? mergeMessage(change), mode: own?.mode ?? 'merge' },
    before: parseObjectId(tested.before),
    commit: parseObjectId(tested.commit),
    landed: { project: change.project, branch: change.branch, commit: tested.commit, tree: tested.tree },
  };
}

/** The ref whose commit the change was approved at; undefined: the change has no id of a proposal. */
export function approvalOf({ id }: ProposedChange, templates: Templates): RefName | undefined {
  const name = parseChangeId(id);
  return name === undefined ? undefined : branchRef(templates.approvals.format(name));
}

/** The answer when it has landed. */
export function done({ landed }: LandingStep): LandingOutcome {
  return { kind: 'landed', landed: [landed] };
}

/** Whether its branch holds the tested commit already. @throws HostFailed */
export async function holds(
  refs: Refs,
  { branch, before, commit }: LandingStep,
  git: ProjectGit,
): Promise<boolean> {
  const tip = refs.get(branch);
  if (tip === commit) return true;
  if (tip === undefined || tip === before) return false;
  if ((await git.bring([{ ref: branch, commit: tip }])).length > 0) return false;
  return git.isAncestor(commit, tip);
}

/** Why the branch cannot move from `tip` to the tested commit, and the proposal go; undefined: nothing that refs show. */
export function obstacleAt(
  tip: ObjectId | undefined,
  refs: Refs,
  { change, branch, proposal, head, before, commit }: LandingStep,
): LandingOutcome | undefined {
  if (refs.get(branch) === undefined || tip === undefined)
    return { kind: 'refused', text: `branch ${change.branch} is gone` };
  if (tip !== before && tip !== commit) {
    return {
      kind: 'base-moved',
      text: `${change.branch} is at ${tip.slice(0, 8)}, the test began at ${before.slice(0, 8)}`,
    };
  }
  const proposed = refs.get(proposal);
  if (proposed === undefined) return { kind: 'refused', text: 'the proposal was withdrawn' };
  if (proposed !== head) {
    return {
      kind: 'refused',
      text: `the proposal is at ${proposed.slice(0, 8)}, tested was ${head.slice(0, 8)}`,
    };
  }
  return undefined;
}

/**
 * The merger of another machine may have made the commit: the same inputs give the same commit here.
 *
 * @throws Error when they do not.
 */
export async function ensureTested(
  { change, branch, proposal, head, before, commit, step }: LandingStep,
  git: ProjectGit,
): Promise<void> {
  if (await git.has(commit)) return;
  const wants = [{ ref: proposal, commit: head }];
  if (!(await git.has(before))) wants.push({ ref: branch, commit: before });
  const missing = await git.bring(wants);
  const made = missing.length > 0 ? undefined : await git.merge(before, step);
  if (made !== commit)
    throw new Error(
      `tested commit ${commit} of ${changeText(change)} is not on this machine and cannot be made again`,
    );
}
