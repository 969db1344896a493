import type { LandingMode } from '../../../src/model/landed.ts';
import type { PullFacts } from '../facts.ts';

/** What the pipeline gives at its end, and GitHub need not have yet. JSON: `votesOf` returns it. */
export type OurVotes = {
  /** Names of checks and statuses. */
  readonly contexts: readonly string[];
  /** It submits an approving review. */
  readonly approves: boolean;
};

/** One question of `canLand`. */
export interface LandingCase {
  readonly facts: PullFacts;
  /** `branch main of acme/app` */
  readonly place: string;
  readonly votes: OurVotes;
  readonly mode: LandingMode;
  /** What the project's merge mode makes of the change. */
  readonly method: 'merge' | 'squash' | 'rebase' | 'cherry-pick';
}
