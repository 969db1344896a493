/** What the files of a landing share. */
import type { DriverLog } from '../../../src/driver/connection.ts';
import type { LandingOutcome, LandingRequest } from '../../../src/driver/landing.ts';
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import type { ProposedChange } from '../../../src/model/change.ts';
import type { LandedBranch } from '../../../src/model/landed.ts';
import type { MergeMode } from '../../../src/model/merge-mode.ts';
import type { GithubApi, GithubCall } from '../api/port.ts';
import { LANDING_BRANCHES } from '../internal-branches.ts';
import { type NotOk, refusalLine } from '../reporting/report-context.ts';
import type { OwnLandings } from './own-landings.ts';
import type { BranchesWithChecks, OwnVotes } from './own-votes.ts';
import type { UnnoticedVotes } from './unnoticed-votes.ts';
import type { UnreadyMerges } from './unready-merges.ts';

/** One pull request on its way into its base branch. */
export interface LandingContext {
  readonly api: GithubApi;
  readonly log: DriverLog;
  readonly change: ProposedChange;
  /** `owner/name`. */
  readonly repository: string;
  readonly pull: number;
  readonly tested: NonNullable<LandingRequest['tested']>;
  /** Of weight `final`. */
  readonly call: GithubCall;
  readonly votes: OwnVotes;
  /** Complete message of the commit, and how it was made: as tested. */
  readonly message: string;
  readonly mode: MergeMode;
  /** When the landing began. */
  readonly now: Nanoseconds;
  /** Names the landing among others of the repository: the item, or the tested commit. */
  readonly name: string;
  readonly knownToNeedChecks: BranchesWithChecks;
  readonly unnoticed: UnnoticedVotes;
  readonly unready: UnreadyMerges;
  /** Gets what is done. */
  readonly own: Pick<OwnLandings, 'pushing' | 'merged'>;
}

/** Full name of the branch that a commit passes through where checks are required of it. */
export function stagingBranch({ name }: Pick<LandingContext, 'name'>): string {
  return `refs/heads/${LANDING_BRANCHES}${name}`;
}

/** Key of {@link BranchesWithChecks}. */
export function branchKey({ repository, change }: Pick<LandingContext, 'repository' | 'change'>): string {
  return `${repository} ${change.branch}`;
}

/**
 * The outcome when GitHub does not show the pull request. No pull request is ever deleted: access to it was lost, which is no verdict
 * on the change.
 */
export function unshownPull(answer: NotOk): LandingOutcome {
  return answer.kind === 'refused'
    ? { kind: 'later', reason: 'denied', text: refusalLine(answer, 'to show the pull request') }
    : { kind: 'later', ...answer.later };
}

/** The outcome of a landing whose branch is as given. */
export function landedAs(branch: LandedBranch): LandingOutcome {
  return { kind: 'landed', landed: [branch] };
}
