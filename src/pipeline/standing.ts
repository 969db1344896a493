import { changesText } from '../model/about-item.ts';
import { type Build, isOpen, resultOf } from '../model/build.ts';
import { type BuildSet, currentBuild, graphOf } from '../model/build-set.ts';
import type { Culprit } from '../model/cause.ts';
import { haltText, type PipelineHalt } from '../model/halt.ts';
import type { HostWait } from '../model/host-trouble.ts';
import type { ItemStateName } from '../model/item-states.ts';
import { isFailed } from '../model/job-standing.ts';
import { awaitsNodes, labelsText } from '../model/node-wait.ts';
import { projectIdOf } from '../model/project.ts';
import type { QueueItem, TimelineEntry } from '../model/queue-item.ts';
import { requirementWaitText } from '../model/requirement.ts';
import { type SemaphoreWait, semaphoreWaitText } from '../model/semaphore.ts';
import type { Blame } from './turn-draft.ts';

/** What an item's neighbours mean for it; determined once per pass (`process-item.ts`). */
export interface Surroundings {
  readonly active: boolean;
  /** Only the head of the queue is tested: other items wait for the item ahead. */
  readonly oneAtATime: boolean;
  /** The live item directly ahead in the queue; null at the head. */
  readonly directlyAhead: QueueItem | null;
  /** An operator paused its queue. */
  readonly paused: PipelineHalt | null;
  /** The item it waits for because of a hold-following job. */
  readonly heldBy: QueueItem | null;
  /** The host trouble that keeps it from its next step; null: none. */
  readonly host: HostWait | null;
  /** The failing item that holds a change it depends on. */
  readonly failingNeed: QueueItem | null;
}

/** Why the item cannot merge, or null. Ignores the changes it needs. */
export function failureOf(item: QueueItem): Blame | null {
  const { stage } = item.buildset;
  const result = stage.state === 'complete' ? stage.result : null;
  if (result === 'SUCCESS') return null;
  const failed = failedVotingBuild(item.buildset);
  if (result === null && failed === undefined) return null;
  const culprit = { item: item.uuid, change: changesText(item), buildset: item.buildset.uuid };
  if (result === 'MERGE_CONFLICT') return { code: 'item-ahead-conflict', culprit };
  if (result === 'CONFIG_ERROR') return { code: 'item-ahead-misconfigured', culprit };
  return {
    code: 'item-ahead-failed',
    culprit: failed === undefined ? culprit : { ...culprit, ...verdictOf(failed) },
  };
}

function failedVotingBuild(buildset: BuildSet): Build | undefined {
  return buildset.builds.find(build => build.voting && isFailed(build));
}

function verdictOf(build: Build): Pick<Culprit, 'build' | 'job' | 'result'> {
  const result = resultOf(build);
  return { build: build.uuid, job: build.job, ...(result === undefined ? {} : { result }) };
}

/**
 * A hold-following job of the item has not succeeded yet. Until its job graph is known every item may have one.
 *
 * A dependency item runs nothing and holds nothing.
 */
export function holdsFollowing(item: QueueItem): boolean {
  if (item.role === 'dependency') return false;
  const graph = graphOf(item.buildset);
  if (graph === null) return item.buildset.stage.state !== 'complete';
  return graph.jobs.some(job => {
    if (!job.holdFollowingChanges) return false;
    const build = currentBuild(item.buildset, job.name);
    return build === undefined || resultOf(build) !== 'SUCCESS';
  });
}

/** The one state every nanosecond of the item belongs to. */
export function stateOf(item: QueueItem, around: Surroundings): Omit<TimelineEntry, 'since'> {
  if (item.phase.phase !== 'queued') return hostOr(around, 'reporting');
  if (item.role === 'dependency') return { state: 'dependency' };
  if (around.failingNeed !== null) return about('needed-change', around.failingNeed);
  switch (item.buildset.stage.state) {
    case 'new':
    case 'superseded':
      return around.active ? hostOr(around, 'merge') : outside(around);
    case 'merging':
      return hostOr(around, 'merge');
    case 'merged':
      // Only an item inside the window is prepared further.
      return around.active ? { state: 'configure' } : outside(around);
    case 'repo-state':
      return hostOr(around, 'repo-state');
    case 'running':
      return runningState(item.buildset, around);
    case 'complete':
      return around.directlyAhead === null
        ? hostOr(around, 'reporting')
        : about('change-ahead', around.directlyAhead);
  }
}

function outside({ oneAtATime, directlyAhead }: Surroundings): Omit<TimelineEntry, 'since'> {
  return oneAtATime && directlyAhead !== null ? about('window', directlyAhead) : { state: 'window' };
}

/** The connection is the subject: which project and why is on the item. */
function hostOr({ host }: Surroundings, state: ItemStateName): Omit<TimelineEntry, 'since'> {
  return host === null ? { state } : { state: 'host', subject: projectIdOf(host.project).connection };
}

function runningState(buildset: BuildSet, around: Surroundings): Omit<TimelineEntry, 'since'> {
  if (buildset.builds.some(build => build.state.state === 'started')) return { state: 'running' };
  const open = buildset.builds.filter(isOpen);
  if (open.some(build => !awaitsNodes(build))) return { state: 'executor' };
  const [waiting] = open;
  if (waiting?.nodes !== undefined) return { state: 'nodes', subject: labelsText(waiting.nodes.labels) };
  if (!around.active) return outside(around);
  if (around.paused !== null) return { state: 'paused', subject: haltText(around.paused) };
  if (around.host !== null) return hostOr(around, 'executor');
  if (around.heldBy !== null) return about('hold-following', around.heldBy);
  const lacks = buildset.requirementWaits?.find(({ ended }) => ended === null);
  if (lacks !== undefined)
    return { state: 'requirement', subject: requirementWaitText(lacks), item: lacks.item };
  const wait = buildset.semaphoreWaits?.find(({ ended }) => ended === null);
  return wait === undefined ? { state: 'executor' } : semaphoreState(wait);
}

/** The holder's item is named where it is of the tenant. */
function semaphoreState(wait: SemaphoreWait): Omit<TimelineEntry, 'since'> {
  const [holder] = wait.heldBy;
  return {
    state: 'semaphore',
    subject: semaphoreWaitText(wait),
    ...(holder === undefined ? {} : { item: holder.item }),
  };
}

function about(state: ItemStateName, item: QueueItem): Omit<TimelineEntry, 'since'> {
  return { state, subject: changesText(item), item: item.uuid };
}
