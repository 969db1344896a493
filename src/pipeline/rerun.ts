/**
 * A person asks for the failed jobs of an item to run again. What passed in the same tested state keeps its result.
 *
 *     jobs still run        the failed ones start again beside them, in the same buildset
 *     all have ended        a new buildset of the same merge, in which the jobs that passed have ended already
 *     no job ran            a new buildset from the merge on: its merge or its configuration is made anew
 *
 * A job runs again, although it passed, where its result is of no use to one that does: it paused for it, or returned secret data, which
 * is sealed for one build. What depends on a job that runs again runs again.
 */
import { aboutItem } from '../model/about-item.ts';
import { type Build, isOpen, resultOf } from '../model/build.ts';
import type { BuildSet, BuildSetStage } from '../model/build-set.ts';
import type { ResetCause } from '../model/cause.ts';
import type { PipelineEvent } from '../model/event.ts';
import type { JobNode } from '../model/job.ts';
import { currentBuilds, isFailed, isFinal } from '../model/job-standing.ts';
import type { JobName } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { operator } from './remover.ts';
import { resetItem } from './reset-item.ts';
import type { TurnDraft } from './turn-draft.ts';

type Rerun = Extract<PipelineEvent, { readonly kind: 'rerun' }>;

/** One that has left is not here; the web has its changes enter again. */
export function applyRerun(draft: TurnDraft, event: Rerun): void {
  const item = draft.item(event.item);
  if (item === undefined || item.role === 'dependency') return;
  const { stage } = item.buildset;
  if (item.phase.phase !== 'queued') refuse(draft, item, event, 'it is being reported');
  else if (stage.state === 'running') repeatBesides(draft, item, event, stage.graph.jobs);
  else if (stage.state !== 'complete') refuse(draft, item, event, 'no job of it has failed');
  else if (stage.result === 'SUCCESS') refuse(draft, item, event, 'its jobs have passed');
  else repeatAll(draft, item, event, stage);
}

function refuse(draft: TurnDraft, item: QueueItem, { uuid, by }: Rerun, why: string): void {
  draft.decide('event-refused', aboutItem(item, uuid), `${by} asked to run its failed jobs again: ${why}`);
}

/** The others go on. */
function repeatBesides(draft: TurnDraft, item: QueueItem, event: Rerun, jobs: readonly JobNode[]): void {
  const current = currentBuilds(item.buildset);
  const again = jobsToRepeat(jobs, current);
  if (again.size === 0) {
    refuse(draft, item, event, 'no job of it has failed');
    return;
  }
  const builds = item.buildset.builds.map(build =>
    again.has(build.job) ? { ...build, outdatedBy: build.job } : build,
  );
  draft.rerun.set(item.uuid, operator(event));
  draft.put({ ...item, buildset: { ...item.buildset, builds } });
  decide(draft, item, event, [...again].join(', '));
}

function repeatAll(
  draft: TurnDraft,
  item: QueueItem,
  event: Rerun,
  { graph, tested }: Extract<BuildSetStage, { state: 'complete' }>,
): void {
  const cause: ResetCause = {
    code: 'rerun',
    at: draft.input.now,
    culprit: null,
    promoter: operator(event),
  };
  draft.retested.set(item.uuid, cause);
  draft.rerun.set(item.uuid, operator(event));
  const next = resetItem(draft, item, cause);
  if (graph === null || tested === null) {
    draft.put(next);
    decide(draft, item, event, 'from its merge on');
    return;
  }
  const current = currentBuilds(item.buildset);
  const again = jobsToRepeat(graph.jobs, current);
  const builds = [...current.values()].filter(({ job }) => !again.has(job)).map(build => kept(draft, build));
  draft.put({ ...next, buildset: continued(next.buildset, item.buildset, { graph, tested, builds }) });
  decide(draft, item, event, [...again].join(', '));
}

/** The new buildset of the same merge and the same jobs. */
function continued(
  next: BuildSet,
  { stackedOn, filesChanged, verdicts }: BuildSet,
  {
    graph,
    tested,
    builds,
  }: Omit<Extract<BuildSetStage, { state: 'running' }>, 'state'> & Pick<BuildSet, 'builds'>,
): BuildSet {
  return {
    ...next,
    ...(stackedOn === undefined ? {} : { stackedOn }),
    ...(verdicts === undefined ? {} : { verdicts }),
    ...{ filesChanged, builds, stage: { state: 'running', graph, tested } },
  };
}

function decide(draft: TurnDraft, item: QueueItem, { uuid, by }: Rerun, what: string): void {
  draft.decide('rerun', aboutItem(item, uuid), `${by} asked to run its failed jobs again: ${what}`);
}

/** Ended as it did before, without a run. */
function kept(draft: TurnDraft, { uuid, job, voting, state }: Build): Build {
  const { ids, now } = draft.input;
  const build = { uuid: ids.uuid(), job, attempt: 1, voting, requestedAt: now };
  if (state.state === 'skipped') return { ...build, state: { ...state, at: now } };
  const returned = state.state === 'completed' ? state.returned : undefined;
  const ended = { startedAt: null, at: now, result: 'SUCCESS', worker: null, execution: null } as const;
  const detail = `passed in build ${uuid}, which tested the same state`;
  return {
    ...build,
    passedIn: uuid,
    state: { state: 'completed', ...ended, detail, ...(returned === undefined ? {} : { returned }) },
  };
}

/** @param builds the last attempt of every job that has one. */
function jobsToRepeat(jobs: readonly JobNode[], builds: ReadonlyMap<JobName, Build>): ReadonlySet<JobName> {
  const again = new Set<JobName>();
  for (const [job, build] of builds) if (hasFailed(build)) again.add(job);
  for (let before = -1; before !== again.size; ) {
    before = again.size;
    for (const job of jobs) if (isDrawnIn(job, builds, again)) again.add(job.name);
    for (const parent of parentsOf(jobs, again)) if (isOfNoUse(builds.get(parent))) again.add(parent);
  }
  return again;
}

function parentsOf(jobs: readonly JobNode[], children: ReadonlySet<JobName>): readonly JobName[] {
  return jobs.flatMap(({ name, dependencies }) =>
    children.has(name) ? dependencies.map(parent => parent.name) : [],
  );
}

function hasFailed(build: Build): boolean {
  return isFinal(build) && (isFailed(build) || resultOf(build) === 'CANCELED');
}

function isDrawnIn(
  { name, dependencies }: JobNode,
  builds: ReadonlyMap<JobName, Build>,
  again: ReadonlySet<JobName>,
): boolean {
  const build = builds.get(name);
  if (build === undefined || isOpen(build)) return false;
  if (build.state.state === 'skipped' && again.has(build.state.because)) return true;
  return dependencies.some(parent => again.has(parent.name));
}

/** Of a build that passed, to one that depends on it and runs again. */
function isOfNoUse(build: Build | undefined): boolean {
  if (build?.state.state !== 'completed') return false;
  const { returned, execution } = build.state;
  return returned?.sealed !== undefined || execution?.steps.some(({ kind }) => kind === 'Pause') === true;
}
