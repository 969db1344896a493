/**
 * Why an item took as long as it did, from its record alone: where every nanosecond went, what the resets cost, its
 * critical path. The API sends this as it is; `explain-text.ts` prints it.
 *
 * All times are decimal nanoseconds; the durations of `stretches`, of `totals` and of `criticalPath` each sum to `duration`.
 *
 * Map of this room:
 *
 *     explain.ts       one item: stretches.ts (its states), waited-for.ts, critical-path.ts; printed by explain-text.ts
 *     compare-items.ts one item beside another and what is usual, by phases.ts; printed by compare-text.ts
 *     waterfall.ts     its spans as bars (waterfall-bar.ts)
 *     delays.ts        many items (delayed-item.ts): delay-load.ts, delay-use.ts, delay-culprits.ts, worst-culprits.ts (ghosts.ts), delay-resets.ts,
 *                      delay-jobs.ts, gate-picture.ts; printed by delays-text.ts, night-text.ts
 */
import { fromMilliseconds, type Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { between, earliest, latest, sum } from '../lib/time-window.ts';
import { type Build, endOfBuild, resultOf, startOfBuild } from '../model/build.ts';
import { type BuildSet, endOf } from '../model/build-set.ts';
import { type Culprit, type LeaveCode, leaveText, type ResetCode, resetText } from '../model/cause.ts';
import { changeText } from '../model/change.ts';
import type { StretchState } from '../model/item-states.ts';
import { lostBuildTime, runningTime } from '../model/lost-time.ts';
import { awaitsNodes } from '../model/node-wait.ts';
import { buildsetsOf, endOfItem, type QueueItem } from '../model/queue-item.ts';
import type { BuildResult, BuildSetResult } from '../model/results.ts';
import type { MoreTakeovers, Takeover } from '../model/takeover.ts';
import type { JudgedFailure } from '../model/test-results.ts';
import { type WithheldReport, withheldReport } from '../model/withheld-report.ts';
import { criticalPath, type PathLink } from './critical-path.ts';
import { type Stretch, stretchesOf } from './stretches.ts';
import { type WaitedFor, waitedForOf } from './waited-for.ts';

/** Plain data without functions, so that the command line prints the one it gets from the API. */
export interface Explanation {
  readonly item: Uuid;
  readonly tenant: string;
  readonly pipeline: string;
  /** `changeText` of each change. */
  readonly changes: readonly string[];
  readonly enqueuedAt: Nanoseconds;
  /** When it left, or now. */
  readonly until: Nanoseconds;
  /** `until - enqueuedAt`. */
  readonly duration: Nanoseconds;
  /** Null: still in its pipeline. */
  readonly ended: null | {
    readonly reason: LeaveCode;
    readonly text: string;
    readonly result: BuildSetResult;
  };
  /** The report that shadow mode withheld; null: none. */
  readonly withheld: WithheldReport | null;
  /** Its states in order, without gap. */
  readonly stretches: readonly Stretch[];
  /** The same by state, longest first. */
  readonly totals: readonly StateTotal[];
  /** Items it waited for, with their states meanwhile; longest first. */
  readonly waitedFor: readonly WaitedFor[];
  /** Takeovers of the pipeline, oldest first; work of executors and mergers may have gone on meanwhile. */
  readonly takeovers: readonly (Takeover & { readonly duration: Nanoseconds })[];
  /** Number of further takeovers that are not listed; null: none. */
  readonly moreTakeovers: Omit<MoreTakeovers, 'last'> | null;
  readonly resets: readonly Reset[];
  /** Machine time that resets discarded. */
  readonly lostBuildTime: Nanoseconds;
  /** Sums over all builds: time in the executors' queue, and time of execution. */
  readonly executorQueueTime: Nanoseconds;
  readonly buildTime: Nanoseconds;
  /** All attempts of all buildsets, in order of request; a build kept over a reset is listed once. */
  readonly builds: readonly BuildTimes[];
  /** Executors that take no builds although they run, and why; empty unless a build of the item waits for one. */
  readonly executorTroubles: readonly ExecutorTrouble[];
  /** Builds of the item that wait for hosts now. */
  readonly nodeWaits: readonly ExplainedNodeWait[];
  /** Tests that failed in the last buildset, the first of each build. */
  readonly failedTests: readonly ExplainedFailure[];
  /** The critical path, without gap. */
  readonly criticalPath: readonly PathLink[];
}

/** An executor that takes no builds, by its machine. */
export interface ExecutorTrouble {
  readonly executor: string;
  readonly trouble: string;
}

/** A build that waits for hosts. */
export interface ExplainedNodeWait {
  readonly build: Uuid;
  readonly job: string;
  /** Its place in the queue, and how the hosts are. */
  readonly text: string;
}

/** A test that failed, and in which build. */
export interface ExplainedFailure extends JudgedFailure {
  readonly build: Uuid;
  readonly job: string;
}

/** All stretches of one state, added up. */
export interface StateTotal {
  readonly state: StretchState;
  readonly kind: 'wait' | 'work';
  readonly duration: Nanoseconds;
  /** Fraction of the item's time, 0 to 1. */
  readonly share: number;
}

/** A time the item had to be tested again, with what that cost. */
export interface Reset {
  /** Number of the buildset it ended. */
  readonly buildset: number;
  readonly at: Nanoseconds;
  readonly code: ResetCode;
  /** The cause: a sentence without a full stop. */
  readonly text: string;
  /** Null: the cause is no item or build, such as a branch that moved. */
  readonly culprit: Culprit | null;
  /** Age of the buildset then. */
  readonly elapsed: Nanoseconds;
  /** Executor time of builds that were discarded. */
  readonly lostBuildTime: Nanoseconds;
}

/** One attempt. An open one counts up to the end of its buildset, or to now. */
export interface BuildTimes {
  readonly uuid: Uuid;
  readonly job: string;
  /** Number of the first buildset that has it. */
  readonly buildset: number;
  readonly attempt: number;
  readonly voting: boolean;
  /** Null: not ended. */
  readonly result: BuildResult | null;
  /** Null: no executor took it. */
  readonly worker: string | null;
  /** Requested → taken by an executor, or ended without, or now; with the wait for hosts. */
  readonly waited: Nanoseconds;
  /** Taken → ended (or now). */
  readonly ran: Nanoseconds;
  /** Mean of the job's last successes for the project; null: unknown. */
  readonly usual: Nanoseconds | null;
}

/** Optional further facts for an explanation. */
export interface ExplainContext {
  /** Items it waited for, see {@link itemsWaitedFor}. */
  readonly others?: ReadonlyMap<Uuid, QueueItem>;
  /** Usual duration of a job in milliseconds, by its name. */
  readonly usual?: ReadonlyMap<string, number>;
  readonly failedTests?: readonly ExplainedFailure[];
  readonly executorTroubles?: readonly ExecutorTrouble[];
  readonly nodeWaits?: readonly ExplainedNodeWait[];
}

/** @param now end of the explanation of an item that has not left. */
export function explainItem(item: QueueItem, now: Nanoseconds, context: ExplainContext = {}): Explanation {
  const until = latest(endOfItem(item) ?? now, item.enqueuedAt);
  const duration = between(item.enqueuedAt, until);
  const stretches = stretchesOf(item, until);
  const resets = resetsOf(item);
  const builds = buildsOf(item, until, context.usual);
  return {
    item: item.uuid,
    tenant: item.tenant,
    pipeline: item.pipeline,
    changes: item.changes.map(changeText),
    enqueuedAt: item.enqueuedAt,
    until,
    duration,
    ended: endedOf(item),
    withheld: withheldReport(item),
    stretches,
    totals: totalsOf(stretches, duration),
    waitedFor: waitedForOf(stretches, context.others, until),
    takeovers: (item.takeovers ?? []).map(each => ({ ...each, duration: between(each.since, each.at) })),
    moreTakeovers: moreTakeoversOf(item),
    resets,
    lostBuildTime: sum(resets.map(reset => reset.lostBuildTime)),
    executorQueueTime: sum(builds.map(build => build.waited)),
    buildTime: sum(builds.map(build => build.ran)),
    builds,
    executorTroubles: waitsForExecutor(item) ? (context.executorTroubles ?? []) : [],
    nodeWaits: context.nodeWaits ?? [],
    failedTests: context.failedTests ?? [],
    criticalPath: criticalPath(item, stretches),
  };
}

function waitsForExecutor({ buildset }: QueueItem): boolean {
  return buildset.builds.some(build => build.state.state === 'requested' && !awaitsNodes(build));
}

function moreTakeoversOf({ moreTakeovers }: QueueItem): Explanation['moreTakeovers'] {
  if (moreTakeovers === undefined) return null;
  const { count, duration } = moreTakeovers;
  return { count, duration };
}

function endedOf({ phase }: QueueItem): Explanation['ended'] {
  return phase.phase === 'left'
    ? { reason: phase.reason, text: leaveText(phase.reason), result: phase.result }
    : null;
}

function totalsOf(stretches: readonly Stretch[], duration: Nanoseconds): readonly StateTotal[] {
  const totals = [...Map.groupBy(stretches, stretch => stretch.state)].flatMap(([state, all]) => {
    const [first] = all;
    const total = sum(all.map(stretch => stretch.duration));
    const share = duration === '0' ? 0 : Number(total) / Number(duration);
    return first === undefined ? [] : [{ state, kind: first.kind, duration: total, share }];
  });
  return totals.sort((a, b) => Number(BigInt(b.duration) - BigInt(a.duration)));
}

function resetsOf(item: QueueItem): readonly Reset[] {
  const all = buildsetsOf(item);
  return all.flatMap((buildset, index) => {
    const cause = buildset.stage.state === 'superseded' ? buildset.stage.cause : all[index + 1]?.cause;
    if (cause === null || cause === undefined) return [];
    return {
      buildset: buildset.number,
      at: cause.at,
      code: cause.code,
      text: resetText(cause),
      culprit: cause.culprit,
      elapsed: between(buildset.createdAt, cause.at),
      lostBuildTime: lostBuildTime(buildset, all.slice(index + 1)),
    };
  });
}

function buildsOf(
  item: QueueItem,
  until: Nanoseconds,
  usual: ExplainContext['usual'],
): readonly BuildTimes[] {
  const seen = new Set<Uuid>();
  return buildsetsOf(item).flatMap(buildset => {
    const closed = earliest(endOf(buildset) ?? until, until);
    return buildset.builds.flatMap(build => {
      if (seen.has(build.uuid)) return [];
      seen.add(build.uuid);
      return buildTimes(buildset, build, closed, usual?.get(build.job));
    });
  });
}

function buildTimes(
  buildset: BuildSet,
  build: Build,
  until: Nanoseconds,
  usual: number | undefined,
): BuildTimes {
  const { state } = build;
  return {
    uuid: build.uuid,
    job: build.job,
    buildset: buildset.number,
    attempt: build.attempt,
    voting: build.voting,
    result: resultOf(build) ?? null,
    worker: state.state === 'requested' || state.state === 'skipped' ? null : state.worker,
    waited: between(build.requestedAt, startOfBuild(build) ?? endOfBuild(build) ?? until),
    ran: runningTime(build, until),
    usual: usual === undefined ? null : fromMilliseconds(usual),
  };
}
