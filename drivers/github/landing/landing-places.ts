/** Where the branches of a landing by push are and may go, in git's terms. */
import type { LandingOutcome } from '../../../src/driver/landing.ts';
import { type ObjectId, parseObjectId } from '../../../src/git/objects/object-id.ts';
import { parseRefName, type RefName } from '../../../src/git/objects/ref-name.ts';
import type { MergeRecipe } from '../../../src/git/remake-merge.ts';
import type { LandedBranch } from '../../../src/model/landed.ts';
import { type LandingContext, stagingBranch } from './landing-context.ts';
import type { LandingGit } from './landing-git.ts';
import type { LandingNow } from './landing-now.ts';

/** Where the two branches of a landing are; undefined: there is none. */
export interface LandingPlaces {
  readonly tip: ObjectId | undefined;
  readonly staged: ObjectId | undefined;
}

/** The refs and commits of one landing. */
export interface LandingIds {
  readonly branch: RefName;
  readonly staging: RefName;
  readonly head: ObjectId;
  /** Where the test began, and what was tested. */
  readonly before: ObjectId;
  readonly commit: ObjectId;
}

/** The same for each try of a landing. */
export function landingIds(context: Pick<LandingContext, 'change' | 'tested' | 'name'>): LandingIds {
  const { change, tested } = context;
  return {
    branch: parseRefName(`refs/heads/${change.branch}`),
    staging: parseRefName(stagingBranch(context)),
    head: parseObjectId(change.commit),
    before: parseObjectId(tested.before),
    commit: parseObjectId(tested.commit),
  };
}

/** As git lists them. @throws LandingUnread. */
export async function listPlaces(context: LandingContext, git: LandingGit): Promise<LandingPlaces> {
  const { branch, staging } = landingIds(context);
  const refs = await git.refs([branch, staging]);
  return { tip: refs.get(branch), staged: refs.get(staging) };
}

/**
 * As the API showed them if that is where the test began: the lease of the push has the last word. Anything else the API may show
 * because it is behind, so git is asked. @throws LandingUnread.
 */
export async function placesAsShown(
  { tip, staged }: LandingNow,
  context: LandingContext,
  git: LandingGit,
): Promise<LandingPlaces> {
  const { before } = landingIds(context);
  if (tip?.commit !== context.tested.before) return listPlaces(context, git);
  return { tip: before, staged: staged === null ? undefined : parseObjectId(staged) };
}

/** Whether the branch has the tested commit. @throws LandingUnread. */
export async function branchHolds(
  { tip }: LandingPlaces,
  context: LandingContext,
  git: LandingGit,
): Promise<boolean> {
  const { branch, before, commit } = landingIds(context);
  return tip !== undefined && tip !== before && git.contains(branch, tip, commit);
}

/** Why the branch cannot move to the tested commit; undefined: it is where the test began. */
export function branchObstacle({ tip }: LandingPlaces, context: LandingContext): LandingOutcome | undefined {
  const { before } = landingIds(context);
  const { branch } = context.change;
  if (tip === undefined) return { kind: 'refused', text: `branch ${branch} is gone` };
  if (tip === before) return undefined;
  const text = `${branch} is at ${tip.slice(0, 8)}, the test began at ${before.slice(0, 8)}`;
  return { kind: 'base-moved', text };
}

/** How the tested commit was made. */
export function landingRecipe(context: LandingContext): MergeRecipe {
  const { branch, before, head, commit } = landingIds(context);
  const { change, message, mode } = context;
  const ref = parseRefName(change.ref);
  return { branch, base: before, inputs: [{ ref, commit: head, message, mode }], commit };
}

/** The branch once the tested commit is in it. */
export function testedBranch({ change, tested }: LandingContext): LandedBranch {
  const { project, branch } = change;
  return { project, branch, commit: tested.commit, tree: tested.tree };
}
