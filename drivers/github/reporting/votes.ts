/**
 * The part of a report that other rules of GitHub look at: check run and status of the pipeline on one commit.
 *
 * Only an App may write check runs. Where the connection is a token, or the App lacks the permission, a status takes its place,
 * and where that is refused too a comment; each says why.
 */
import type { ReporterOutcome } from '../../../src/driver/reporter.ts';
import { changeText } from '../../../src/model/change.ts';
import type { GithubIdentity } from '../api/port.ts';
import { type AnnotationPlan, planAnnotations } from './annotations.ts';
import { readChangedFiles } from './changed-files.ts';
import { type CheckRunMemory, writeCheckRun } from './check-run.ts';
import { type StatusState, writeStatus } from './commit-status.ts';
import { type CommentMemories, writeComment } from './pull-comment.ts';
import { type GithubReportContext, type NotOk, outcomeOfRefusal, pullNumberOf } from './report-context.ts';
import { wantedRun } from './wanted-run.ts';

/** What this process remembers of its own writes. */
export interface ReportMemories extends CommentMemories {
  readonly runs: CheckRunMemory;
}

const DONE: ReporterOutcome = { kind: 'done' };

/** @param annotates false: without the remarks about lines, for a commit that reviewers do not see. */
export async function writeVotes(
  context: GithubReportContext,
  identity: GithubIdentity,
  memories: ReportMemories,
  annotates = true,
): Promise<ReporterOutcome> {
  const { check, status } = context.words;
  const outcomes: ReporterOutcome[] = [];
  if (check !== undefined) outcomes.push(await writeCheck(check, context, identity, memories, annotates));
  if (outcomes.some(({ kind }) => kind === 'later')) return outcomes[0] ?? DONE;
  if (status !== undefined) {
    const answer = await writeStatus(statusOf(status), context);
    outcomes.push(answer.kind === 'ok' ? DONE : outcomeOfRefusal(answer, 'the status'));
  }
  return (
    outcomes.find(({ kind }) => kind === 'later') ?? outcomes.find(({ kind }) => kind === 'failed') ?? DONE
  );
}

async function writeCheck(
  word: string,
  context: GithubReportContext,
  { app, login, permissions }: GithubIdentity,
  memories: ReportMemories,
  annotates: boolean,
): Promise<ReporterOutcome> {
  if (app === null) return instead(word, context, login, memories, 'check runs need a GitHub App');
  if (permissions !== null && permissions.checks !== 'write')
    return instead(word, context, login, memories, NO_PERMISSION);
  const plan = annotates ? await planFor(context) : NO_ANNOTATIONS;
  if ('kind' in plan) return outcomeOfRefusal(plan, 'the check run');
  const wanted = wantedRun(context.report, word, plan.leftOut);
  const answer = await writeCheckRun(wanted, plan.annotations, app.id, context, memories.runs);
  if (answer.kind === 'ok') return DONE;
  if (answer.kind === 'refused' && answer.status === 403)
    return instead(word, context, login, memories, NO_PERMISSION);
  return outcomeOfRefusal(answer, 'the check run');
}

const NO_PERMISSION = 'the App lacks the permission checks: write';
const NO_ANNOTATIONS: AnnotationPlan = { annotations: [], leftOut: [] };

async function planFor(context: GithubReportContext): Promise<AnnotationPlan | NotOk> {
  const { report, change } = context;
  if (!report.fileComments.some(({ project }) => project === change.project)) return NO_ANNOTATIONS;
  const files = await readChangedFiles(context);
  // Without the list every remark is shown; a host that does not serve is asked again.
  if (files.kind === 'later' || files.kind === 'lost') return files;
  return planAnnotations(report.fileComments, change, files.kind === 'ok' ? files.data : null);
}

/** A status in place of a check run, and a comment in place of that. */
async function instead(
  word: string,
  context: GithubReportContext,
  login: string,
  memories: ReportMemories,
  why: string,
): Promise<ReporterOutcome> {
  const { words, change, log } = context;
  log.warn({ change: changeText(change), reason: why }, 'a check run could not be written');
  // The pipeline reports a status anyway.
  if (words.status !== undefined) return DONE;
  const answer = await writeStatus(statusOf(word), context, why);
  if (answer.kind === 'ok') return DONE;
  const pull = pullNumberOf(change);
  if (answer.kind !== 'refused' || pull === undefined) return outcomeOfRefusal(answer, 'the status');
  const text = `No check run and no status: ${why}, and no status was taken.`;
  const commented = await writeComment(pull, login, context, memories, text);
  return commented.kind === 'ok' ? DONE : outcomeOfRefusal(commented, 'the comment');
}

/** The status that counts as a conclusion does. */
function statusOf(word: string): StatusState {
  switch (word) {
    case 'success':
    case 'neutral':
    case 'skipped':
      return 'success';
    case 'in_progress':
    case 'pending':
    case 'queued':
      return 'pending';
    case 'error':
      return 'error';
    default:
      return 'failure';
  }
}
