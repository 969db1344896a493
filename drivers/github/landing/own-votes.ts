/**
 * Our own success, where a branch requires it before anything lands: given before the landing that passed, taken back when the
 * branch moved and the change is tested again.
 *
 * Most branches do not require it, so it is given when GitHub asks for it, and from then on before each landing in that branch.
 */
import type { ReporterOutcome } from '../../../src/driver/reporter.ts';
import { createLru, type Lru } from '../../../src/git/support/lru.ts';
import type { CommitId } from '../../../src/model/project.ts';
import type { GithubIdentity } from '../api/port.ts';
import { findCheckRun } from '../reporting/check-run.ts';
import { standingStatus } from '../reporting/commit-status.ts';
import { type GithubReportContext, outcomeOfRefusal } from '../reporting/report-context.ts';
import { checkNameOf } from '../reporting/report-key.ts';
import { type ReportMemories, writeVotes } from '../reporting/votes.ts';

/** Of one landing. */
export interface OwnVotes {
  /** Name of the check or status; undefined: this reporter gives none. */
  readonly name: string | undefined;
  /** @param commit the head, or the commit that is pushed. */
  give(commit: CommitId): Promise<ReporterOutcome>;
  /** The change is tested again: what was given says so. Best effort, as the end of the item writes it again. */
  takeBack(why: string): Promise<ReporterOutcome>;
}

/** Branches that require checks before they move, as `owner/name branch`: found by their refusals. */
export type BranchesWithChecks = Lru<string, true>;

/** Empty at first. */
export function createBranchesWithChecks(): BranchesWithChecks {
  return createLru<string, true>(10_000);
}

/** @param context of the report that follows the landing; undefined: it is not known what will be reported. */
export function createOwnVotes(context: GithubReportContext | undefined, memories: ReportMemories): OwnVotes {
  if (context === undefined || (context.words.check ?? context.words.status) === undefined) {
    const nothing = async (): Promise<ReporterOutcome> => ({ kind: 'done' });
    return { name: undefined, give: nothing, takeBack: nothing };
  }
  const withIdentity = async (
    act: (identity: GithubIdentity) => Promise<ReporterOutcome>,
  ): Promise<ReporterOutcome> => {
    const identity = await context.api.identity(context.call('final'));
    return identity.kind === 'ok' ? act(identity.data) : outcomeOfRefusal(identity, 'our credentials');
  };
  return {
    name: checkNameOf(context.report),
    give: commit =>
      withIdentity(identity => {
        const isHead = commit === context.commit;
        return writeVotes({ ...context, commit }, identity, memories, isHead);
      }),
    takeBack: why => withIdentity(identity => takeBack(why, context, identity, memories)),
  };
}

async function takeBack(
  why: string,
  context: GithubReportContext,
  identity: GithubIdentity,
  memories: ReportMemories,
): Promise<ReporterOutcome> {
  const given = await isGiven(context, identity);
  if (given === false) return { kind: 'done' };
  if (given !== true) return given;
  const { check, status } = context.words;
  const words = {
    ...(check === undefined ? {} : { check: 'in_progress' }),
    ...(status === undefined ? {} : { status: 'pending' }),
    ...('status-url' in context.words ? { 'status-url': context.words['status-url'] ?? '' } : {}),
  };
  const headline = `Tested again: ${why}`;
  const report = {
    ...context.report,
    action: 'start',
    result: '',
    headline,
    reason: null,
    jobs: [],
  } as const;
  return writeVotes({ ...context, words, report, reopens: true }, identity, memories, false);
}

/** Whether the head has our success, of this item. */
async function isGiven(
  context: GithubReportContext,
  { app }: GithubIdentity,
): Promise<boolean | ReporterOutcome> {
  const { words, report } = context;
  if (words.check !== undefined && app !== null) {
    const run = await findCheckRun(app.id, context);
    if (run.kind !== 'ok') return outcomeOfRefusal(run, 'a question for the check run');
    if (run.data?.status === 'completed') return true;
  }
  if (words.status === undefined && app !== null) return false;
  const status = await standingStatus(context);
  if (status.kind !== 'ok') return outcomeOfRefusal(status, 'a question for the status');
  const target = words['status-url'] ?? report.urls.item;
  return status.data !== undefined && status.data.target_url === target && status.data.state !== 'pending';
}
