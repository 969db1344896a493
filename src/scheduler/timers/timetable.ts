/** Which timers a tenant has, what is due in a span of time, and when the next is. Pure. */
import { TIMER, timesOf } from '../../layout/build/timer-trigger.ts';
import { type CronTimes, parseCron } from '../../lib/cron.ts';
import { sha256 } from '../../lib/ids.ts';
import type { BranchName, PipelineName, ProjectKey, TenantName } from '../../model/project.ts';
import { exclusionOf } from '../tenant/branch-exclusion.ts';
import type { TenantConfig } from '../tenant/tenant-config.ts';

/** One time of one pipeline. */
export interface Timer {
  /** `<pipeline> <time>` */
  readonly name: string;
  readonly pipeline: PipelineName;
  readonly time: string;
  readonly times: CronTimes;
  /** By their delay. */
  readonly branches: readonly TimedBranch[];
}

/** A branch of a project in the pipeline. */
export interface TimedBranch {
  readonly project: ProjectKey;
  readonly branch: BranchName;
  /** Milliseconds by which it comes after the time: its share of the jitter. */
  readonly delay: number;
}

/** Milliseconds. What is later than this is missed; within it another scheduler takes a tenant over. */
const LATEST = 60_000;
/** Missed ticks of one timer that are counted one by one. */
const MOST_COUNTED = 200;

/** The timers of the layout, of pipelines in which some project takes part. */
export function timersOf(config: Pick<TenantConfig, 'tenant' | 'layout' | 'branches'>): readonly Timer[] {
  const { pipelines } = config.layout;
  return [...pipelines.values()]
    .filter(({ triggers }) => triggers.some(({ connection }) => connection === TIMER))
    .flatMap(pipeline =>
      timesOf(pipeline).flatMap(time => {
        const read = parseCron(time);
        if (read.kind === 'invalid') return [];
        const branches = branchesIn(config, pipeline.name, read.times.jitter * 1_000);
        const name = `${pipeline.name} ${time}`;
        return branches.length === 0
          ? []
          : [{ name, pipeline: pipeline.name, time, times: read.times, branches }];
      }),
    );
}

function branchesIn(
  config: Pick<TenantConfig, 'tenant' | 'layout' | 'branches'>,
  pipeline: PipelineName,
  jitter: number,
): readonly TimedBranch[] {
  const found = [...config.branches].flatMap(([project, branches]) => {
    if (config.layout.projects.get(project)?.pipelines.has(pipeline) !== true) return [];
    const counted = [...branches.keys()].filter(each => exclusionOf(config, project, each) === undefined);
    return counted.map(branch => {
      return { project, branch, delay: delayOf(config.tenant.name, project, branch, jitter) };
    });
  });
  return found.toSorted((a, b) => a.delay - b.delay);
}

/** The same in every scheduler and at every time, as in Zuul. */
function delayOf(tenant: TenantName, project: ProjectKey, branch: BranchName, jitter: number): number {
  if (jitter === 0) return 0;
  const share = Number.parseInt(sha256(JSON.stringify([tenant, project, branch])).slice(0, 8), 16) / 2 ** 32;
  return Math.floor(share * jitter);
}

/** The order in which branches of a tick get their events. */
export function branchText({ project, branch }: Pick<TimedBranch, 'project' | 'branch'>): string {
  return `${project} ${branch}`;
}

/** One time of a timer: the branches whose moment is after `from` and not after `to`. Milliseconds since the Unix epoch. */
export interface DueTick {
  readonly timer: Timer;
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

/** Moments that passed while no scheduler held the tenant. */
export interface MissedTicks {
  readonly timer: Timer;
  /** Events that did not come, one for each branch. */
  readonly events: number;
  /** There are more; they are not counted. */
  readonly isMore: boolean;
}

/** What was due after `from` and not after `to`. */
export function dueBetween(
  timers: readonly Timer[],
  from: number,
  to: number,
): { readonly ticks: readonly DueTick[]; readonly missed: readonly MissedTicks[] } {
  const fresh = Math.max(from, to - LATEST);
  return {
    missed: timers.flatMap(timer => missedBetween(timer, from, fresh)),
    ticks: timers.flatMap(timer => {
      const due = [...ticksBetween(timer, fresh, to)];
      return due.map(at => ({ timer, at, from: fresh, to }));
    }),
  };
}

function missedBetween(timer: Timer, from: number, to: number): readonly MissedTicks[] {
  let events = 0;
  let counted = 0;
  for (const at of ticksBetween(timer, from, to)) {
    if (counted === MOST_COUNTED) return [{ timer, events, isMore: true }];
    counted += 1;
    events += branchesWithin(timer, at, from, to).length;
  }
  return events === 0 ? [] : [{ timer, events, isMore: false }];
}

/** Times of which some branch's moment is after `from` and not after `to`. */
function* ticksBetween(timer: Timer, from: number, to: number): Generator<number, void, undefined> {
  if (from >= to) return;
  const longest = timer.branches.at(-1)?.delay ?? 0;
  for (let at = timer.times.next(from - longest - 1); at !== null && at <= to; at = timer.times.next(at))
    if (branchesWithin(timer, at, from, to).length > 0) yield at;
}

/** @param at one of the timer's times. */
export function branchesWithin(timer: Timer, at: number, from: number, to: number): readonly TimedBranch[] {
  const { branches } = timer;
  return branches.slice(firstAfter(branches, from - at), firstAfter(branches, to - at));
}

/** Milliseconds since the Unix epoch of the first moment after `now`; null: there is none. */
export function nextMoment(timers: readonly Timer[], now: number): number | null {
  const moments = timers.flatMap(timer => {
    const { branches, times } = timer;
    const longest = branches.at(-1)?.delay ?? 0;
    let first: number | null = null;
    for (let at = times.next(now - longest - 1); at !== null; at = times.next(at)) {
      const branch = branches[firstAfter(branches, now - at)];
      if (branch !== undefined && (first === null || at + branch.delay < first)) first = at + branch.delay;
      if (at > now) break;
    }
    return first ?? [];
  });
  return moments.length === 0 ? null : Math.min(...moments);
}

/** Index of the first branch with a longer delay. */
function firstAfter(branches: readonly TimedBranch[], delay: number): number {
  let [low, high] = [0, branches.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((branches[middle]?.delay ?? 0) > delay) high = middle;
    else low = middle + 1;
  }
  return low;
}
