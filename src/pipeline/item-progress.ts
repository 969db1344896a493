/**
 * Where an item is on its way: its place in its change queue, the jobs that run, and when it will probably have its result. Pure.
 *
 * The estimate is the longest way through the job graph with the usual duration of each job, and no item is done before those ahead
 * of it in its queue. It is an estimate of undisturbed work: waits for executors, resets and retries are not in it.
 */
import { addMilliseconds, millisecondsBetween, type Nanoseconds, toMilliseconds } from '../lib/clock.ts';
import { leadChange } from '../model/about-item.ts';
import { isOpen, isRetried } from '../model/build.ts';
import { currentBuild, graphOf } from '../model/build-set.ts';
import type { JobNode } from '../model/job.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import type { JobName, ProjectKey } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { ReportedProgress } from '../model/report.ts';

/** What is known beside the state. */
export interface ProgressFacts {
  readonly now: Nanoseconds;
  /** Usual duration in milliseconds; undefined: not known. */
  usual(project: ProjectKey, job: JobName): number | undefined;
}

/** @param item one of `state`. */
export function itemProgress(
  item: QueueItem,
  { queues, items }: Pick<PipelineState, 'queues' | 'items'>,
  facts: ProgressFacts,
): ReportedProgress {
  const queue = queues.find(({ key }) => key === item.queue)?.items ?? [];
  const ahead = queue.slice(0, Math.max(0, queue.indexOf(item.uuid)));
  const ways = [...ahead.flatMap(uuid => items.get(uuid) ?? []), item].map(each => remainingMs(each, facts));
  const known = ways.filter(way => way !== null);
  return {
    ahead: ahead.length,
    position: ahead.length + 1,
    eta: known.length < ways.length ? null : rounded(facts.now, Math.max(...known)),
    running: (graphOf(item.buildset)?.jobs ?? [])
      .map(({ name }) => name)
      .filter(name => currentBuild(item.buildset, name)?.state.state === 'started'),
  };
}

const ROUND_MS = 5 * 60_000;

/** Up to five minutes, so that what is shown does not change with every second. */
function rounded(now: Nanoseconds, ms: number): Nanoseconds {
  const end = toMilliseconds(now) + ms;
  return addMilliseconds(now, Math.ceil(end / ROUND_MS) * ROUND_MS - toMilliseconds(now));
}

/** Until its jobs have ended; null: not known. */
function remainingMs(item: QueueItem, facts: ProgressFacts): number | null {
  if (item.phase.phase !== 'queued' || item.role === 'dependency') return 0;
  const { stage } = item.buildset;
  if (stage.state === 'complete') return 0;
  if (stage.state !== 'running' && stage.state !== 'repo-state') return null;
  const ends = new Map<JobName, number | null>();
  // Jobs that a job depends on may come behind it.
  const endOf = (job: JobNode): number | null => {
    const known = ends.get(job.name);
    if (known !== undefined) return known;
    const end = endOfJob(item, job, facts, endOfParents(job));
    ends.set(job.name, end);
    return end;
  };
  const endOfParents = (job: JobNode) => () =>
    latest(
      stage.graph.jobs.filter(({ name }) => job.dependencies.some(each => each.name === name)).map(endOf),
    );
  return latest(stage.graph.jobs.map(endOf));
}

function endOfJob(
  item: QueueItem,
  { name }: JobNode,
  { now, usual }: ProgressFacts,
  endOfParents: () => number | null,
): number | null {
  const build = currentBuild(item.buildset, name);
  if (build !== undefined && !isOpen(build) && !isRetried(build)) return 0;
  const ms = usual(leadChange(item).project, name);
  if (ms === undefined) return null;
  if (build?.state.state === 'started') {
    const left = ms - millisecondsBetween(build.state.at, now);
    // Longer than usual: how much longer is not known.
    return left < 0 ? null : left;
  }
  const begin = build?.state.state === 'requested' ? 0 : endOfParents();
  return begin === null ? null : begin + ms;
}

function latest(ends: readonly (number | null)[]): number | null {
  return ends.reduce((a, b) => (a === null || b === null ? null : Math.max(a, b)), 0);
}
