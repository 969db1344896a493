/**
 * One item as the page draws it: pure, and free of "now", so that it changes only when the item does. Times are
 * milliseconds since the epoch; the page lets the clocks run itself.
 */
import { toMilliseconds } from '../lib/clock.ts';
import { type Build, resultOf } from '../model/build.ts';
import { currentBuild, graphOf } from '../model/build-set.ts';
import { briefResetText, culpritText, leaveText, removalText, resetText } from '../model/cause.ts';
import { type Change, changeText } from '../model/change.ts';
import type { JobNode } from '../model/job.ts';
import { type JobStanding, jobStandings, waitText } from '../model/job-standing.ts';
import { lostBuildTime } from '../model/lost-time.ts';
import { projectIdOf } from '../model/project.ts';
import { buildsetsOf, endOfItem, type QueueItem, type TimelineEntry } from '../model/queue-item.ts';
import { failingReasons } from './failing-reasons.ts';

export interface ItemContext {
  /** Address of the trace in the configured viewer. */
  readonly traceUrl: string | null;
  /** All its traces there: of its event, its own, of its long jobs. */
  readonly tracesUrl: string | null;
  /** Milliseconds a job usually takes. */
  readonly expected: ReadonlyMap<string, number>;
}

export function liveItem(item: QueueItem, { traceUrl, tracesUrl, expected }: ItemContext) {
  const state: TimelineEntry = item.timeline.at(-1) ?? item.timeline[0];
  const left = item.phase.phase === 'left' ? item.phase : null;
  return {
    uuid: item.uuid,
    tenant: item.tenant,
    pipeline: item.pipeline,
    queue: item.queue,
    role: item.role,
    changes: item.changes.map(shownChange),
    dependsOn: item.dependsOn.map(key => key.slice(key.indexOf('/') + 1)),
    enqueuedAt: toMilliseconds(item.enqueuedAt),
    behind: item.behind,
    active: isActive(item),
    state: shownState(state),
    hostWait: shownHostWait(item),
    timeline: item.timeline.map(shownState),
    failing: failingReasons(item),
    buildset: { uuid: item.buildset.uuid, number: item.buildset.number, stage: item.buildset.stage.state },
    jobs: jobsOf(item, expected),
    jobDecisions: item.buildset.verdicts ?? [],
    resets: resetsOf(item),
    left:
      left === null
        ? null
        : {
            at: toMilliseconds(left.at),
            result: left.result,
            reason: left.reason,
            text: leaveText(left.reason),
          },
    traceUrl,
    tracesUrl,
  };
}

function shownState({ state, since, subject }: TimelineEntry) {
  return { name: state, since: toMilliseconds(since), subject: subject ?? null };
}

/** Of an item that has met the trouble itself; those behind it wait for the same and say so by their state alone. */
function shownHostWait({ hostWait }: QueueItem) {
  if (hostWait === undefined) return null;
  const { project, doing, reason, text, since, tries, retryAt } = hostWait;
  const times = { since: toMilliseconds(since), retryAt: toMilliseconds(retryAt) };
  return { project: projectIdOf(project).name, doing, reason, text, tries, ...times };
}

export type LiveItem = ReturnType<typeof liveItem>;

export function isActive(item: QueueItem): boolean {
  return item.timeline.at(-1)?.state !== 'window';
}

/** Why and when it was tested again, and what that cost. */
export function resetsOf(item: QueueItem) {
  const all = buildsetsOf(item);
  return item.earlier.flatMap((buildset, index) => {
    // One that had come to its result is no longer superseded in its own record; the next one knows the cause.
    const cause = buildset.stage.state === 'superseded' ? buildset.stage.cause : all[index + 1]?.cause;
    if (cause === null || cause === undefined) return [];
    const lost = Number(BigInt(lostBuildTime(buildset, all.slice(index + 1))) / 1_000_000n);
    return [
      {
        at: toMilliseconds(cause.at),
        code: cause.code,
        number: buildset.number,
        text: resetText(cause),
        brief: briefResetText(cause),
        lostMs: lost,
      },
    ];
  });
}

function jobsOf(item: QueueItem, expected: ReadonlyMap<string, number>) {
  const jobs = graphOf(item.buildset)?.jobs ?? [];
  const standings = jobStandings(item.buildset);
  return jobs.map(job => shownJob(item, job, standings.get(job.name), expected.get(job.name) ?? null));
}

function shownJob(
  item: QueueItem,
  job: JobNode,
  standing: JobStanding | undefined,
  expectedMs: number | null,
) {
  const build = currentBuild(item.buildset, job.name);
  return {
    name: job.name,
    voting: job.voting,
    attempts: job.attempts,
    dependencies: job.dependencies.map(dependency => dependency.name),
    expectedMs,
    waitingFor: standing === undefined ? null : waitText(standing),
    ...(build === undefined
      ? {
          build: null,
          state: 'waiting',
          attempt: 1,
          result: null,
          startedAt: null,
          endedAt: null,
          requestedAt: null,
          worker: null,
          detail: null,
        }
      : shownBuild(build)),
  };
}

function shownBuild(build: Build) {
  const { state } = build;
  const startedAt =
    state.state === 'started'
      ? state.at
      : state.state === 'completed' || state.state === 'cancelled'
        ? state.startedAt
        : null;
  const ended = state.state === 'completed' || state.state === 'cancelled' || state.state === 'skipped';
  return {
    build: build.uuid,
    state: state.state,
    attempt: build.attempt,
    result:
      resultOf(build) ?? (state.state === 'started' && state.failingSince !== undefined ? 'FAILING' : null),
    requestedAt: toMilliseconds(build.requestedAt),
    startedAt: startedAt === null ? null : toMilliseconds(startedAt),
    endedAt: ended ? toMilliseconds(state.at) : null,
    worker: 'worker' in state ? state.worker : null,
    detail: detailOf(build),
  };
}

function detailOf({ state }: Build): string | null {
  switch (state.state) {
    case 'completed':
      return state.detail ?? null;
    case 'skipped':
      return `${state.because} did not succeed`;
    case 'cancelled':
      if (state.cause.left !== undefined) return removalText(state.cause.left, state.cause.remover);
      return state.cause.culprit === null ? null : culpritText(state.cause.culprit);
    default:
      return null;
  }
}

function shownChange(change: Change) {
  return {
    text: changeText(change),
    project: projectIdOf(change.project).name,
    name: change.kind === 'change' ? change.id : change.ref,
    subject: change.kind === 'change' ? change.subject : null,
    owner: change.kind === 'change' ? (change.owner ?? null) : null,
    url: change.url !== undefined && /^https?:\/\//.test(change.url) ? change.url : null,
  };
}

/** A line of the list of finished items. */
export function finishedItem(item: QueueItem) {
  return {
    uuid: item.uuid,
    pipeline: item.pipeline,
    changes: item.changes.map(shownChange),
    enqueuedAt: toMilliseconds(item.enqueuedAt),
    leftAt: toMilliseconds(endOfItem(item) ?? item.enqueuedAt),
    result: item.phase.phase === 'left' ? item.phase.result : null,
    reason: item.phase.phase === 'left' ? item.phase.reason : null,
    resets: item.earlier.length,
  };
}
