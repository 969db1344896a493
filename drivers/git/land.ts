/**
 * Landing changes of one repository: each branch goes from where the first test began to exactly the commit that was tested last,
 * and proposals and approvals go away, in one atomic push in which every ref has its own lease.
 *
 *     refs/heads/master              before → commit      the compare-and-set of the gate
 *     refs/heads/for/master/login    change → gone        a commit pushed meanwhile is never lost
 *     refs/heads/gate/master/login   approved → gone
 *     refs/heads/for/master/logout   change → gone        tested on top of login
 *     refs/heads/gate/master/logout  approved → gone
 *
 * A repetition after a crash or a lost answer finds the commits in the branch and only cleans up. When the push of one change is
 * refused, the refs are listed again and the answer follows from them, not from the text of the refusal:
 *
 *     the tested commit is in the branch      landed
 *     the branch is elsewhere                 base-moved: test again
 *     proposal or approval is elsewhere       refused
 *     nothing moved, a rule of the host       refused, with the host's text
 *     nothing moved, no rule                  host trouble (a lock, a full disk): HostFailed, try again later
 *
 * The push of several that is refused has moved nothing, and does not say which of them is the culprit: the first half is
 * pushed alone, and so on, until one change has an answer of its own.
 */

import type { LandingOutcome } from '../../src/driver/landing.ts';
import type { ObjectId } from '../../src/git/objects/object-id.ts';
import type { RefName } from '../../src/git/objects/ref-name.ts';
import { isWorthAnotherTry } from '../../src/git/process/failure-table.ts';
import type { RefChange } from '../../src/git/remote/push.ts';
import type { LandedBranch } from '../../src/model/landed.ts';
import {
  approvalOf,
  done,
  ensureTested,
  holds,
  type LandingStep,
  landingStep,
  obstacleAt,
  type TestedChange,
} from './landing-step.ts';
import type { Refs, Templates } from './ref-view.ts';
import { HostFailed, type ProjectGit } from './remote-git.ts';

/**
 * @param changes of one repository, each tested on what the one before it leaves.
 * @returns outcomes of the first ones, at least of one; all but the last have landed.
 * @throws HostFailed when the remote cannot be reached, did nothing, or the outcome is unknown; Error when a tested commit is not available.
 */
export async function landInOrder(
  changes: readonly [TestedChange, ...TestedChange[]],
  templates: Templates,
  git: ProjectGit,
): Promise<readonly LandingOutcome[]> {
  const steps = changes.map(landingStep);
  const refs = await git.refs();
  const landed = await landedOf(refs, steps, git);
  if (landed.length > 0) {
    await cleanUp(refs, landed, templates, git);
    return landed.map(done);
  }
  const { free, obstacle } = freeSteps(refs, steps, templates);
  if (free.length === 0 && obstacle !== undefined) return [obstacle];
  for (const step of free) await ensureTested(step, git);
  const pushed = await git.push([...moves(free), ...removals(refs, free, templates)]);
  if (pushed.kind === 'pushed') return free.map(done);
  const [first, ...others] = changes.slice(0, Math.ceil(free.length / 2));
  if (free.length > 1 && first !== undefined) return landInOrder([first, ...others], templates, git);
  return [await answerAfter(pushed, { before: refs, now: await git.refs() }, steps, templates, git)];
}

/** What has landed, empty: nothing; changes nothing. @throws HostFailed when the remote cannot be reached. */
export async function landedSoFar(tested: TestedChange, git: ProjectGit): Promise<readonly LandedBranch[]> {
  const step = landingStep(tested);
  return (await holds(await git.refs(), step, git)) ? [step.landed] : [];
}

/** Those of the first ones that their branches hold. */
async function landedOf(
  refs: Refs,
  steps: readonly LandingStep[],
  git: ProjectGit,
): Promise<readonly LandingStep[]> {
  const landed: LandingStep[] = [];
  for (const step of steps) {
    if (!(await holds(refs, step, git))) break;
    landed.push(step);
  }
  return landed;
}

/** The first ones that nothing hinders as far as refs show, and what hinders the next. */
function freeSteps(
  refs: Refs,
  steps: readonly LandingStep[],
  templates: Templates,
): { readonly free: readonly LandingStep[]; readonly obstacle?: LandingOutcome } {
  const tips = new Map<RefName, ObjectId>();
  const free: LandingStep[] = [];
  for (const step of steps) {
    const { change, branch, commit } = step;
    const obstacle =
      approvalOf(change, templates) === undefined
        ? ({ kind: 'refused', text: `${change.id} is not the id of a proposal` } as const)
        : obstacleAt(tips.get(branch) ?? refs.get(branch), refs, step);
    if (obstacle !== undefined) return { free, obstacle };
    tips.set(branch, commit);
    free.push(step);
  }
  return { free };
}

/** Each branch once, from where the first test of it began. */
function moves(steps: readonly LandingStep[]): readonly RefChange[] {
  const moved = new Map<RefName, RefChange>();
  for (const { branch, before, commit } of steps)
    moved.set(branch, { ref: branch, from: moved.get(branch)?.from ?? before, to: commit });
  return [...moved.values()];
}

/** Proposals that are where they were tested, and their approvals wherever they are. */
function removals(refs: Refs, steps: readonly LandingStep[], templates: Templates): readonly RefChange[] {
  return steps.flatMap(({ change, proposal, head }) => {
    if (refs.get(proposal) !== head) return [];
    const approval = approvalOf(change, templates);
    const approved = approval === undefined ? undefined : refs.get(approval);
    return [
      { ref: proposal, from: head, to: null },
      ...(approval === undefined || approved === undefined
        ? []
        : [{ ref: approval, from: approved, to: null }]),
    ];
  });
}

/** Removes the refs that an interrupted call, or the landing of another change of the item, left. The changes have landed even if this fails. */
async function cleanUp(
  refs: Refs,
  landed: readonly LandingStep[],
  templates: Templates,
  git: ProjectGit,
): Promise<void> {
  const left = removals(refs, landed, templates);
  if (left.length > 0) await git.push(left);
}

/** Of the first change, whose push alone was refused. */
async function answerAfter(
  refusal: Exclude<Awaited<ReturnType<ProjectGit['push']>>, { readonly kind: 'pushed' }>,
  refs: { readonly before: Refs; readonly now: Refs },
  [step]: readonly LandingStep[],
  templates: Templates,
  git: ProjectGit,
): Promise<LandingOutcome> {
  if (step === undefined) throw new Error('nothing to land');
  if (await holds(refs.now, step, git)) {
    await cleanUp(refs.now, [step], templates, git);
    return done(step);
  }
  const moved = obstacleAt(refs.now.get(step.branch), refs.now, step);
  if (moved !== undefined) return moved;
  const approval = approvalOf(step.change, templates);
  if (approval !== undefined && refs.now.get(approval) !== refs.before.get(approval))
    return { kind: 'refused', text: 'its approval changed while it was merged' };
  if (isWorthAnotherTry(refusal.nature))
    throw new HostFailed(step.change.project, { message: `the push was not done: ${refusal.text}` });
  return { kind: 'refused', text: `the code host refused the push: ${refusal.text}` };
}
