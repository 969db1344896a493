/** Machine time lost to resets: builds of superseded buildsets whose results were not used. */
import type { Nanoseconds } from '../lib/clock.ts';
import { between, sum } from '../lib/time-window.ts';
import { type Build, endOfBuild, startOfBuild } from './build.ts';
import type { BuildSet } from './build-set.ts';
import { endOf } from './build-set.ts';
import { buildsetsOf, type QueueItem } from './queue-item.ts';

/**
 * Time executors spent on builds of a discarded buildset: superseded, or complete and then replaced. Zero for the buildset
 * that counts.
 *
 * @param later buildsets that replaced it: a build kept by one of them, or whose result stands there, was not lost.
 */
export function lostBuildTime(buildset: BuildSet, later: readonly BuildSet[]): Nanoseconds {
  const end = endOf(buildset);
  if (end === null || (buildset.stage.state !== 'superseded' && later.length === 0)) return sum([]);
  const kept = new Set(later.flatMap(other => other.builds.map(build => build.passedIn ?? build.uuid)));
  return sum(buildset.builds.filter(build => !kept.has(build.uuid)).map(build => runningTime(build, end)));
}

/** Lost time of all resets of an item, in seconds. */
export function lostBuildSeconds(item: QueueItem): number {
  const all = buildsetsOf(item);
  const lost = all.map((buildset, index) => lostBuildTime(buildset, all.slice(index + 1)));
  return Number(BigInt(sum(lost)) / 1_000_000n) / 1000;
}

/** How long an executor worked on it; `until` closes a build that still runs. */
export function runningTime(build: Build, until: Nanoseconds): Nanoseconds {
  const start = startOfBuild(build);
  return start === null ? sum([]) : between(start, endOfBuild(build) ?? until);
}
