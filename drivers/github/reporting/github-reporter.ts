/**
 * Reports to GitHub, each part found again before it is written:
 *
 *     check, status     votes.ts → check-run.ts (wanted-run.ts, annotations.ts, changed-files.ts), commit-status.ts
 *     comment           pull-comment.ts (own-comment.ts, known-comments.ts)
 *     label, unlabel    pull-labels.ts
 *     review            pull-review.ts
 *
 * in this order: what other rules look at comes first. Texts: report-summary.ts, markdown-text.ts, longest-body.ts; keys:
 * report-key.ts; report-context.ts is what they share, report-memory.ts what one report hands to the next. answer-comment.ts answers
 * questions. A part that GitHub refuses for good does not keep the others from being written. One that GitHub cannot take
 * now ends the report with `later`: the caller repeats all of it, and finds what is done.
 */

import type { DriverLog } from '../../../src/driver/connection.ts';
import { gatherSteps } from '../../../src/driver/host-steps.ts';
import type { Reporter, ReporterOutcome, ReportRequest } from '../../../src/driver/reporter.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { commitOf } from '../../../src/model/change.ts';
import type { Json } from '../../../src/model/job.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import type { GithubApi, GithubCall, GithubIdentity } from '../api/port.ts';
import { createCheckRunMemory, writeProgress } from './check-run.ts';
import { createKnownComments } from './known-comments.ts';
import { createCommentMemory, writeComment } from './pull-comment.ts';
import { writeLabels } from './pull-labels.ts';
import { writeReview } from './pull-review.ts';
import {
  type GithubReportContext,
  type NotOk,
  outcomeOfRefusal,
  pullNumberOf,
  type ReporterWords,
} from './report-context.ts';
import { type ReportMemory, readMemory, writtenMemory } from './report-memory.ts';
import { type ReportMemories, writeVotes } from './votes.ts';
import { wantedRun } from './wanted-run.ts';

/** The log gets parts that took another form than the pipeline asks for. */
export interface GithubReporterDeps {
  readonly api: GithubApi;
  readonly log: DriverLog;
  /** What the pipeline's reporter says. @throws Error for a config that was not parsed before. */
  readonly wordsOf: (config: Json) => ReporterWords;
}

/** Empty at first. Reporter and landing of a connection share one. @param clock that of the connection. */
export function createReportMemories(clock: Pick<Clock, 'now'>): ReportMemories {
  return {
    runs: createCheckRunMemory(),
    comments: createCommentMemory(),
    known: createKnownComments(clock),
  };
}

/** Writes nothing that GitHub holds already. */
export function createGithubReporter(deps: GithubReporterDeps, memories: ReportMemories): Reporter {
  return {
    async report(request, signal, mayAct) {
      signal.throwIfAborted();
      const commit = commitOf(request.change);
      if (commit === null) return { kind: 'done' };
      const { steps, add } = gatherSteps();
      const acting = { signal, steps: add, ...(mayAct === undefined ? {} : { mayAct }) };
      let written = memoryOf(request);
      const note = (memory: ReportMemory) => {
        written = { ...written, ...memory };
      };
      const context = { ...reportContext({ ...request, commit }, deps, acting), note };
      const identity = await deps.api.identity(context.call('final'));
      const outcome =
        identity.kind === 'ok'
          ? await writeAll(context, identity.data, memories)
          : outcomeOfRefusal(identity, 'our credentials');
      const memory = writtenMemory(written);
      return {
        ...outcome,
        ...(steps.length === 0 ? {} : { steps }),
        ...(memory === undefined ? {} : { memory }),
      };
    },
    async progress(request, signal, mayAct) {
      signal.throwIfAborted();
      const commit = commitOf(request.change);
      if (commit === null) return { kind: 'done', steps: [] };
      const { steps, add } = gatherSteps();
      const context = reportContext({ ...request, commit }, deps, { signal, mayAct, steps: add });
      const { check } = context.words;
      const wanted = check === undefined ? undefined : wantedRun(context.report, check);
      if (wanted?.status !== 'in_progress') return { kind: 'done', steps };
      const answer = await writeProgress(wanted, context, memories.runs);
      const outcome =
        answer.kind === 'ok'
          ? ({ kind: 'done' } as const)
          : outcomeOfRefusal(answer, 'the text of a check run');
      return { ...outcome, steps };
    },
  };
}

function memoryOf({ earlier }: Pick<ReportRequest, 'earlier'>): ReportMemory {
  return earlier?.kind === 'remembered' ? readMemory(earlier.memory) : {};
}

/** Notes nothing. @param request `commit`: what checks and statuses are about. */
export function reportContext(
  request: ReportRequest & Pick<GithubReportContext, 'commit'>,
  { api, log, wordsOf }: GithubReporterDeps,
  acting: Pick<GithubCall, 'signal' | 'mayAct' | 'steps'>,
): GithubReportContext {
  const { change, report, commit } = request;
  const repository = projectIdOf(change.project).name;
  return {
    api,
    log,
    words: wordsOf(request.config),
    report,
    change,
    commit,
    isFirst: request.earlier?.kind === 'none',
    aloneSince: request.aloneSince,
    remembered: memoryOf(request),
    note: () => {},
    call: weight => ({ repository, weight, ...acting }),
  };
}

async function writeAll(
  context: GithubReportContext,
  identity: GithubIdentity,
  memories: ReportMemories,
): Promise<ReporterOutcome> {
  const refused: string[] = [];
  for (const part of partsOf(context, identity, memories)) {
    const outcome = await part();
    if (outcome.kind === 'later') return outcome;
    if (outcome.kind === 'failed') refused.push(outcome.text);
  }
  return refused.length === 0 ? { kind: 'done' } : { kind: 'failed', text: refused.join('; ') };
}

type ReportPart = () => Promise<ReporterOutcome>;

function partsOf(
  context: GithubReportContext,
  identity: GithubIdentity,
  memories: ReportMemories,
): ReportPart[] {
  const { words, change } = context;
  const votes: ReportPart = () => writeVotes(context, identity, memories);
  const pull = pullNumberOf(change);
  if (pull === undefined) return [votes];
  const { login } = identity;
  const { review } = words;
  const hasLabels = (words.label ?? []).length + (words.unlabel ?? []).length > 0;
  return [
    votes,
    ...(words.comment === false
      ? []
      : [part('the comment', () => writeComment(pull, login, context, memories))]),
    ...(hasLabels ? [part('the labels', () => writeLabels(pull, context))] : []),
    ...(review === undefined ? [] : [part('the review', () => writeReview(pull, login, review, context))]),
  ];
}

function part(what: string, write: () => Promise<{ readonly kind: 'ok' } | NotOk>): ReportPart {
  return async () => {
    const answer = await write();
    return answer.kind === 'ok' ? { kind: 'done' } : outcomeOfRefusal(answer, what);
  };
}
