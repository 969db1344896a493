/** What the files of a landing share. */
import type { DriverLog } from '../../../src/driver/connection.ts';
import type { LandingOutcome, LandingRequest } from '../../../src/driver/landing.ts';
import { addMilliseconds, type Nanoseconds } from '../../../src/lib/clock.ts';
import type { ProposedChange } from '../../../src/model/change.ts';
import type { LandedBranch } from '../../../src/model/landed.ts';
import type { GerritApi, GerritCall } from '../api/port.ts';
import type { OwnAccount } from '../reporting/own-account.ts';
import type { LabelVote } from '../reporting/report-context.ts';
import type { LandingTips } from './landing-tips.ts';

/** One change on its way into its branch. */
export interface GerritLandingContext {
  readonly api: GerritApi;
  readonly log: DriverLog;
  readonly change: ProposedChange;
  /** Name of its project, e.g. `acme/app`. */
  readonly project: string;
  readonly tested: NonNullable<LandingRequest['tested']>;
  /** Other changes of the same item, on the same connection: they land with this one or after it. */
  readonly siblings: readonly ProposedChange[];
  /** What the pipeline votes with its success. */
  readonly votes: readonly LabelVote[];
  readonly tag: string;
  readonly call: GerritCall;
  readonly tips: LandingTips;
  readonly ourselves: OwnAccount;
  /** When the landing began. */
  readonly now: Nanoseconds;
  /** Waits for Gerrit; ends early when aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Milliseconds until a change that Gerrit is at work on is asked about again. */
const LOCKED_WAIT_MS = 2_000;

/** Gerrit does something else with the change or the branch. */
export function gerritIsBusy(text: string, { now }: Pick<GerritLandingContext, 'now'>): LandingOutcome {
  return { kind: 'later', reason: 'locked', text, notBefore: addMilliseconds(now, LOCKED_WAIT_MS) };
}

/** The outcome of a landing whose branch is as given. */
export function landedIn(branch: LandedBranch): LandingOutcome {
  return { kind: 'landed', landed: [branch] };
}
