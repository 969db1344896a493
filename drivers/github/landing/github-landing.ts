/**
 * Lands pull requests: by push (land-push.ts) or by GitHub's API (land-api.ts), as the connection says.
 *
 *     landing-now.ts         pull request and branches, asked directly before (landing-query.ts)
 *     landing-places.ts      the branches of a push, and where they may go; staging.ts: one of them
 *     landing-git.ts         git: where the branch is, the tested commit, the push
 *     own-votes.ts           our success, where the branch requires it first
 *     unnoticed-votes.ts     and GitHub has not noticed it yet; unready-merges.ts: nor where the branch is, or whether it can merge
 *     push-refusal.ts, merge-refusal.ts    GitHub's words, and what to do about them
 *     verify-tree.ts         what GitHub made, read back
 *     close-landed.ts        pull requests that GitHub does not see as merged
 *     own-landings.ts        what this process landed a moment ago; landing-context.ts, short-wait.ts: what these share
 *
 * Before that, whether GitHub would land it: can-land.ts (landing-case.ts), from branch-refuses.ts, missing-checks.ts and
 * missing-reviews.ts.
 */
import { gatherSteps } from '../../../src/driver/host-steps.ts';
import type { Landing, LandingOutcome, LandingRequest } from '../../../src/driver/landing.ts';
import { settleLanding } from '../../../src/driver/landing-errors.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import type { ProposedChange } from '../../../src/model/change.ts';
import type { LandingMode } from '../../../src/model/landed.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import type { GithubCall } from '../api/port.ts';
import { type GithubReporterDeps, reportContext } from '../reporting/github-reporter.ts';
import type { ReportMemories } from '../reporting/votes.ts';
import { mergeMethodOf } from './branch-refuses.ts';
import { landByApi, landedByApi } from './land-api.ts';
import { landByPush, landedByPush } from './land-push.ts';
import type { LandingContext } from './landing-context.ts';
import { type LandingGitDeps, openLandingGit } from './landing-git.ts';
import { createOwnLandings, type OwnLandings } from './own-landings.ts';
import { type BranchesWithChecks, createBranchesWithChecks, createOwnVotes } from './own-votes.ts';
import { createUnnoticedVotes, type UnnoticedVotes } from './unnoticed-votes.ts';
import { createUnreadyMerges, type UnreadyMerges } from './unready-merges.ts';

/** `mode` is the connection's, of all its repositories. */
export interface GithubLandingDeps extends GithubReporterDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly mode: LandingMode;
  readonly git: LandingGitDeps;
  /** Complete message of the merge commit: what the merger used, so that the commit can be made again. */
  readonly messageOf: (change: ProposedChange) => string;
}

/** What is kept between the landings of a connection. */
interface LandingMemories {
  readonly reports: ReportMemories;
  readonly checks: BranchesWithChecks;
  readonly unnoticed: UnnoticedVotes;
  readonly unready: UnreadyMerges;
  readonly own: OwnLandings;
}

/** @param reports shared with the connection's reporter. @param own with its source. */
export function createGithubLanding(
  deps: GithubLandingDeps,
  reports: ReportMemories,
  own: OwnLandings = createOwnLandings(),
): Landing {
  const checks = createBranchesWithChecks();
  const unnoticed = createUnnoticedVotes();
  const memories = { reports, checks, unnoticed, unready: createUnreadyMerges(), own };
  return {
    async land(request, signal, mayAct) {
      signal.throwIfAborted();
      const { change } = request;
      if (change.kind === 'ref')
        return { kind: 'refused', text: `${change.ref} is where it should be; there is nothing to merge` };
      const { steps, add } = gatherSteps();
      const acting = { signal, mayAct, steps: add };
      const context = landingContext(change, request, deps, memories, acting);
      if (context === undefined) return { kind: 'refused', text: 'nothing was tested' };
      return settleLanding(steps, () => land(context, request, deps, acting));
    },
    async landed(request, signal) {
      signal.throwIfAborted();
      const { change } = request;
      if (change.kind === 'ref') return [];
      const never = () => false;
      const context = landingContext(change, request, deps, memories, { signal, mayAct: never });
      if (context === undefined) return [];
      if (deps.mode === 'push') {
        const git = await openLandingGit(change.project, deps.git, () => requireRight(never, signal));
        const pushed = await landedByPush(context, git);
        if (pushed.length > 0) return pushed;
      }
      return landedByApi(context);
    },
  };
}

type Acting = Pick<GithubCall, 'signal' | 'steps'> & { readonly mayAct: () => boolean };

async function land(
  context: LandingContext,
  { change }: LandingRequest,
  deps: GithubLandingDeps,
  { mayAct, signal }: Acting,
): Promise<LandingOutcome> {
  if (deps.mode === 'push') {
    const git = await openLandingGit(change.project, deps.git, () => requireRight(mayAct, signal));
    return landByPush(context, git);
  }
  const outcome = await landByApi(mergeMethodOf(context.mode), context);
  if (outcome.kind !== 'base-moved') return outcome;
  const taken = await context.votes.takeBack(outcome.text);
  return taken.kind === 'later' ? taken : outcome;
}

function landingContext(
  change: ProposedChange,
  { tested, report, config }: LandingRequest,
  deps: GithubLandingDeps,
  { reports, checks, unnoticed, unready, own }: LandingMemories,
  acting: Acting,
): LandingContext | undefined {
  if (tested === undefined) return undefined;
  const { api, log, clock, messageOf } = deps;
  const repository = projectIdOf(change.project).name;
  const { commit } = change;
  const [input] = tested.inputs ?? [];
  const reporting =
    report === undefined ? undefined : reportContext({ config, change, report, commit }, deps, acting);
  return {
    api,
    log,
    change,
    repository,
    pull: Number(change.id),
    tested,
    call: { repository, weight: 'final', ...acting },
    votes: createOwnVotes(reporting, reports),
    message: input?.message ?? messageOf(change),
    mode: input?.mode ?? 'merge',
    now: clock.now(),
    name: report?.item ?? tested.commit,
    knownToNeedChecks: checks,
    unnoticed,
    unready,
    own,
  };
}

function requireRight(mayAct: () => boolean, signal: AbortSignal): void {
  if (!mayAct() || signal.aborted) throw new Error('this process may not act at the code host any more');
}
