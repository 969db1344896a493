/**
 * Starts what can start and skips what never will (`src/model/job-standing.ts` says which), then sees whether all jobs have ended.
 *
 * Jobs are considered in configuration order. A skip may settle jobs listed earlier, so the list is walked until a walk
 * settles nothing; each walk but the last settles at least one job.
 */
import { changesText, leadChange } from '../model/about-item.ts';
import { type Build, isPaused, resultOf } from '../model/build.ts';
import type { StartHold } from '../model/build-set.ts';
import type { JobNode } from '../model/job.ts';
import {
  currentBuilds,
  failFastCulprit,
  isFailed,
  isFinal,
  type JobStanding,
  jobStanding,
} from '../model/job-standing.ts';
import type { JobName } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { resumeBuilds } from './build-pauses.ts';
import { complete } from './prepare-item.ts';
import { type OpenRequirements, withRequirementWaits } from './requirement-waits.ts';
import { requirementsOf } from './requirements.ts';
import { rememberResult } from './reuse-results.ts';
import { type FullSemaphores, withSemaphoreWaits } from './semaphore-waits.ts';
import { cancelOpenBuilds } from './stop-work.ts';
import { withEvent } from './timeline.ts';
import type { TurnDraft } from './turn-draft.ts';

/** The same item when there is nothing to do. */
export function startJobs(draft: TurnDraft, item: QueueItem, hold: StartHold | undefined): QueueItem {
  const { stage } = item.buildset;
  if (stage.state !== 'running') return item;
  const { jobs } = stage.graph;
  const failed = failFastCulprit(jobs, item.buildset);
  const stopped = failed === undefined ? item : stopOthers(draft, item, failed);
  const builds = currentBuilds(stopped.buildset);
  const plan = { jobs, builds, failed, hold, full: new Map(), open: new Map() };
  const added = newBuilds(draft, stopped, plan);
  const requested = withRequirementWaits(draft, withNewBuilds(stopped, added), plan.open, plan.full);
  const started = withSemaphoreWaits(draft, requested, plan.full);
  const resumed = resumeBuilds(draft, started, jobs);
  return completeWhenDone(draft, withHold(resumed, plan), jobs, builds);
}

function withNewBuilds(item: QueueItem, added: readonly Build[]): QueueItem {
  if (added.length === 0) return item;
  return { ...item, buildset: { ...item.buildset, builds: [...item.buildset.builds, ...added] } };
}

/** Records what keeps a job from starting, for pages and explanations; the same item when that is recorded already. */
function withHold(item: QueueItem, { jobs, builds, failed, hold }: JobPlan): QueueItem {
  const isHeld =
    hold !== undefined &&
    jobs.some(job => {
      const standing = jobStanding(job, builds, failed, hold);
      return standing.kind === 'waits' && standing.for === hold;
    });
  const { startHold: known, ...buildset } = item.buildset;
  const found = isHeld ? hold : undefined;
  if (JSON.stringify(known) === JSON.stringify(found)) return item;
  return { ...item, buildset: found === undefined ? buildset : { ...buildset, startHold: found } };
}

/** Fail-fast: the first voting failure cancels the other jobs. */
function stopOthers(draft: TurnDraft, item: QueueItem, failed: Build): QueueItem {
  const result = resultOf(failed);
  const culprit = {
    item: item.uuid,
    change: changesText(item),
    buildset: item.buildset.uuid,
    build: failed.uuid,
    job: failed.job,
    ...(result === undefined ? {} : { result }),
  };
  const builds = cancelOpenBuilds(draft, item.buildset.builds, {
    code: 'fail-fast',
    at: draft.input.now,
    culprit,
  });
  if (builds === item.buildset.builds) return item;
  return withEvent(
    { ...item, buildset: { ...item.buildset, builds } },
    {
      at: draft.input.now,
      name: 'cancel-requested',
      facts: { code: 'fail-fast', buildset: item.buildset.uuid, build: failed.uuid, job: failed.job },
    },
  );
}

interface JobPlan {
  readonly jobs: readonly JobNode[];
  /** The last attempt of each job; those begun here are added. */
  readonly builds: Map<JobName, Build>;
  readonly failed: Build | undefined;
  readonly hold: StartHold | undefined;
  /** Jobs that only lack semaphores, found so far. */
  readonly full: Map<JobName, FullSemaphores>;
  /** Jobs that lack what they require. */
  readonly open: Map<JobName, OpenRequirements>;
}

function newBuilds(
  draft: TurnDraft,
  item: QueueItem,
  { jobs, builds, failed, hold, ...lacking }: JobPlan,
): readonly Build[] {
  const added: Build[] = [];
  for (let before = -1; before !== added.length; ) {
    before = added.length;
    for (const job of jobs) {
      const standing = jobStanding(job, builds, failed, hold);
      if (standing.kind !== 'startable' && standing.kind !== 'skip') continue;
      const attempt = (builds.get(job.name)?.attempt ?? 0) + 1;
      const build =
        standing.kind === 'skip'
          ? skip(draft, job, attempt, standing)
          : request(draft, item, job, attempt, { builds, ...lacking });
      if (build === undefined) continue;
      builds.set(job.name, build);
      added.push(build);
    }
  }
  return added;
}

function skip(
  draft: TurnDraft,
  job: JobNode,
  attempt: number,
  { because, filtered }: Extract<JobStanding, { kind: 'skip' }>,
): Build {
  const at = draft.input.now;
  const state = { state: 'skipped', at, because, ...(filtered === undefined ? {} : { filtered }) } as const;
  return { uuid: draft.input.ids.uuid(), job: job.name, attempt, voting: job.voting, requestedAt: at, state };
}

/** Undefined: it lacks what it requires, or its semaphores have no free slot or are not known yet. */
function request(
  draft: TurnDraft,
  item: QueueItem,
  job: JobNode,
  attempt: number,
  { builds, full, open }: Pick<JobPlan, 'builds' | 'full' | 'open'>,
): Build | undefined {
  const required = requirementsOf(draft, item, job);
  if (required.kind === 'failed') return failedBuild(draft, job, attempt, required.text);
  if (required.kind === 'waits') {
    open.set(job.name, required);
    return undefined;
  }
  const uuid = draft.input.ids.uuid();
  const taken = job.semaphores === undefined ? NO_SEMAPHORES : draft.semaphores.take(item, job, uuid);
  if (taken.kind === 'unknown') draft.lackSemaphores(taken.semaphores);
  if (taken.kind === 'full') full.set(job.name, taken);
  if (taken.kind !== 'taken') return undefined;
  draft.command({
    kind: 'request-build',
    build: uuid,
    item: item.uuid,
    buildset: item.buildset.uuid,
    job: job.name,
    attempt,
    ...(required.artifacts.length === 0 ? {} : { artifacts: required.artifacts }),
  });
  return {
    uuid,
    job: job.name,
    attempt,
    voting: job.voting,
    requestedAt: draft.input.now,
    priority: isAwaited(job, builds) ? 'high' : draft.input.pipeline.precedence,
    ...(hasOwnTrace(draft, item, job) ? { ownTrace: true } : {}),
    ...(taken.holds.length === 0 ? {} : { semaphores: taken.holds }),
    state: { state: 'requested' },
  };
}

/** As in Zuul it comes before others while a build pauses for it. */
function isAwaited({ dependencies }: JobNode, builds: ReadonlyMap<JobName, Build>): boolean {
  return dependencies.some(({ name }) => {
    const parent = builds.get(name);
    return parent !== undefined && (isPaused(parent) || parent.priority === 'high');
  });
}

/** As in Zuul a job whose provider failed fails without a run. */
function failedBuild(draft: TurnDraft, job: JobNode, attempt: number, detail: string): Build {
  const at = draft.input.now;
  const { name, voting } = job;
  const ended = { startedAt: null, at, result: 'FAILURE', worker: null, execution: null, detail } as const;
  const state = { state: 'completed', ...ended } as const;
  return { uuid: draft.input.ids.uuid(), job: name, attempt, voting, requestedAt: at, state };
}

const NO_SEMAPHORES = { kind: 'taken', holds: [] } as const;

function hasOwnTrace(draft: TurnDraft, item: QueueItem, job: JobNode): boolean {
  return job.trace === 'own' || draft.input.tracing?.runsLong(leadChange(item).project, job.name) === true;
}

function completeWhenDone(
  draft: TurnDraft,
  item: QueueItem,
  jobs: readonly JobNode[],
  builds: ReadonlyMap<JobName, Build>,
): QueueItem {
  let failed = false;
  for (const job of jobs) {
    const build = builds.get(job.name);
    if (build === undefined || !isFinal(build)) return item;
    failed ||= job.voting && isFailed(build);
  }
  const result = failed ? 'FAILURE' : 'SUCCESS';
  rememberResult(draft, item, result);
  return complete(draft, item, result);
}
