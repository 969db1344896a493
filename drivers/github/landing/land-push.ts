/**
 * Landing by push: the branch goes from where the test began to exactly the tested commit, with a lease on where it was.
 *
 * A branch that requires checks wants them on the pushed commit itself (GH006, GH013). Then the commit goes to a staging branch
 * first, gets our success there, and the branch moves in the push that deletes the staging branch:
 *
 *     refs/heads/gatehouse/landing/<item>    → commit                     staged
 *     acme/gate of the commit                → success
 *     refs/heads/main                        before → commit              the compare-and-set of the gate
 *     refs/heads/gatehouse/landing/<item>    commit → gone                in the same push
 *
 * Every call begins by asking, with one request: a repetition after a crash or a lost answer finds the commit in the branch, or the
 * staging branch of the call before. When the push is refused, git lists the branches, and the answer follows from them.
 */

import type { LandingOutcome } from '../../../src/driver/landing.ts';
import { LandingUnread, LandingUnsettled } from '../../../src/driver/landing-errors.ts';
import type { ObjectId } from '../../../src/git/objects/object-id.ts';
import type { RefChange } from '../../../src/git/remote/push.ts';
import type { LandedBranch } from '../../../src/model/landed.ts';
import { type Closing, closeLanded } from './close-landed.ts';
import { branchKey, type LandingContext, landedAs, unshownPull } from './landing-context.ts';
import type { LandingGit, LandingPush } from './landing-git.ts';
import { pullObstacle, readLandingNow } from './landing-now.ts';
import {
  branchHolds,
  branchObstacle,
  type LandingPlaces,
  landingIds,
  landingRecipe,
  listPlaces,
  placesAsShown,
  testedBranch,
} from './landing-places.ts';
import { judgePushRefusal } from './push-refusal.ts';
import { removeStaged, stage, unstaging } from './staging.ts';
import { missesOwnOnly } from './unnoticed-votes.ts';

/** @throws LandingUnread, LandingUnsettled. */
export async function landByPush(context: LandingContext, git: LandingGit): Promise<LandingOutcome> {
  const begun = await begin(context, git);
  if ('outcome' in begun) return begun.outcome;
  await git.ensure(landingRecipe(context));
  const { commit } = landingIds(context);

  let { staged } = begun;
  if (staged !== undefined || context.knownToNeedChecks.get(branchKey(context)) === true) {
    const obstacle = await stage(staged, context, git);
    if (obstacle !== undefined) return giveUp(obstacle, context, git);
    staged = commit;
  }
  const first = await move(staged, context, git);
  if ('outcome' in first) return first.outcome;
  const refusal = judgePushRefusal(first.text);
  if (refusal.kind === 'refused' || staged !== undefined)
    return giveUp(refusedBy(refusal, first.text, context), context, git);

  context.knownToNeedChecks.set(branchKey(context), true);
  const obstacle = await stage(undefined, context, git);
  if (obstacle !== undefined) return giveUp(obstacle, context, git);
  const second = await move(commit, context, git);
  if ('outcome' in second) return second.outcome;
  return giveUp(refusedBy(judgePushRefusal(second.text), second.text, context), context, git);
}

/** What has landed so far, empty: nothing. @throws LandingUnread. */
export async function landedByPush(
  context: LandingContext,
  git: LandingGit,
): Promise<readonly LandedBranch[]> {
  const places = await listPlaces(context, git);
  return (await branchHolds(places, context, git)) ? [testedBranch(context)] : [];
}

/** The outcome when nothing is to be pushed, else where the branches are. */
async function begin(
  context: LandingContext,
  git: LandingGit,
): Promise<LandingPlaces | { readonly outcome: LandingOutcome }> {
  const now = await readLandingNow(context);
  const places =
    now.kind === 'ok' ? await placesAsShown(now.data, context, git) : await listPlaces(context, git);
  if (await branchHolds(places, context, git)) {
    const isOpen = now.kind !== 'ok' || now.data.isOpen;
    return { outcome: await landed(places, isOpen ? 'perhaps' : 'closed', context, git) };
  }
  if (now.kind !== 'ok') return { outcome: unshownPull(now) };
  if (now.data.mergedAs !== null) return { outcome: landedAs(now.data.mergedAs) };
  const obstacle = pullObstacle(now.data, context) ?? branchObstacle(places, context);
  return obstacle === undefined ? places : { outcome: await giveUp(obstacle, context, git, places) };
}

/** One push of the branch. @returns the outcome, or the text of a refusal by a rule. */
async function move(
  staged: ObjectId | undefined,
  context: LandingContext,
  git: LandingGit,
): Promise<{ readonly outcome: LandingOutcome } | { readonly text: string }> {
  const { branch, before, commit } = landingIds(context);
  const changes = [{ ref: branch, from: before, to: commit }, ...unstaging(staged, context)];
  const pushed = await noted(context, () => pushAndLook(changes, context, git));
  if (pushed.kind === 'pushed')
    return { outcome: await landed({ tip: commit, staged: undefined }, pushed.words, context, git) };
  const places = await listPlaces(context, git);
  if (await branchHolds(places, context, git))
    return { outcome: await landed(places, 'perhaps', context, git) };
  const moved = branchObstacle(places, context);
  if (moved !== undefined) return { outcome: await giveUp(moved, context, git, places) };
  if (pushed.kind === 'refused') return { text: pushed.text };
  throw new LandingUnread({ reason: 'other', text: `the push was not done: ${pushed.text}` });
}

type Pushed =
  | { readonly kind: 'pushed'; readonly words: Closing }
  | Exclude<LandingPush, { readonly kind: 'pushed' }>;

/** With a note of the push for the event that comes of it, and whether git's answer said that it was done. */
async function noted(context: LandingContext, push: () => Promise<Pushed>): Promise<Pushed> {
  const { branch, before, commit } = landingIds(context);
  const { repository, own, tested } = context;
  const answer = Promise.withResolvers<boolean>();
  own.pushing({ repository, ref: branch }, { before, after: commit, tree: tested.tree }, answer.promise);
  let isDone = false;
  try {
    const pushed = await push();
    isDone = pushed.kind === 'pushed' && pushed.words === 'open';
    return pushed;
  } finally {
    answer.resolve(isDone);
  }
}

/** A push whose answer was lost is looked up; what is not known then stays unsettled. */
async function pushAndLook(
  changes: readonly RefChange[],
  context: LandingContext,
  git: LandingGit,
): Promise<Pushed> {
  try {
    const pushed = await git.push(changes);
    // No try before this one moved the branch, so none has closed the pull request.
    return pushed.kind === 'pushed' ? { kind: 'pushed', words: 'open' } : pushed;
  } catch (error) {
    if (!(error instanceof LandingUnsettled)) throw error;
    const tip = await listPlaces(context, git).then(
      places => places.tip,
      () => undefined,
    );
    if (tip !== landingIds(context).commit) throw error;
    return { kind: 'pushed', words: 'perhaps' };
  }
}

function refusedBy(
  refusal: ReturnType<typeof judgePushRefusal>,
  said: string,
  context: LandingContext,
): LandingOutcome {
  if (refusal.kind === 'refused') return refusal;
  const { change, votes } = context;
  const again = missesOwnOnly(refusal.names, votes.name) ? context.unnoticed.again(said, context) : undefined;
  if (again !== undefined) return again;
  const others = refusal.names.filter(name => name !== votes.name);
  const which = others.length === 0 ? 'checks of others' : others.join(', ');
  const advice = `${change.branch} requires ${which} on the pushed commit: let the App bypass the rule, or set landing = api`;
  return { kind: 'refused', text: `GitHub refused the push: ${said.slice(0, 600)}; ${advice}` };
}

/** Removes the staging branch, which lands nothing any more; later tries keep it. @param places as just read; absent: read them. */
async function giveUp(
  outcome: LandingOutcome,
  context: LandingContext,
  git: LandingGit,
  places?: LandingPlaces,
): Promise<LandingOutcome> {
  if (outcome.kind === 'later') return outcome;
  const { staged } = places ?? (await listPlaces(context, git));
  if (staged !== undefined) await git.push(unstaging(staged, context));
  return outcome;
}

/** It has landed, even if what is left to do here fails. */
async function landed(
  { staged }: LandingPlaces,
  closing: Closing,
  context: LandingContext,
  git: LandingGit,
): Promise<LandingOutcome> {
  const { head, commit } = landingIds(context);
  await removeStaged(staged, context, git);
  const isMergedByGithub = await git.isAncestor(head, commit);
  if (isMergedByGithub) context.own.merged(context.repository, context.pull, head);
  else await closeLanded(testedBranch(context), closing, context);
  return landedAs(testedBranch(context));
}
