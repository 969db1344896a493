/**
 * Builds that pause between their run and their post-run, for those that depend on them (`zuul.pause`).
 *
 *     started ──build-paused──► paused ──all that depend on it have ended──► started again ──build-result──► completed
 *                                  └──────────────── RETRY, cancel ────────────────────────────────────────► ended
 *
 * Everything that ends a build ends its pause: a cancel, the loss of its executor. There is no deadline beside: those that it waits for
 * have timeouts of their own. A build that is tried again after it had paused outdates what ran with it, however that ended.
 */
import type { Uuid } from '../lib/ids.ts';
import { aboutItem, changesText } from '../model/about-item.ts';
import { type Build, type BuildState, isOpen, isPaused } from '../model/build.ts';
import { graphOf } from '../model/build-set.ts';
import type { PipelineEvent } from '../model/event.ts';
import type { JobNode } from '../model/job.ts';
import { currentBuilds, isFinal } from '../model/job-standing.ts';
import type { JobName } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { buildOfEvent, ignoreFor, putBuild, within } from './found-build.ts';
import { excessReturned } from './returned-room.ts';
import { cancelBuild } from './stop-work.ts';
import { withEvent } from './timeline.ts';
import type { TurnDraft } from './turn-draft.ts';

type Paused = Extract<PipelineEvent, { readonly kind: 'build-paused' }>;

/** What does not fit is not stored: the build goes on at once, and its result has the reason. */
export function applyBuildPaused(draft: TurnDraft, event: Paused): void {
  const found = buildOfEvent(draft, event);
  if (found === undefined) return;
  const { build, item } = found;
  const { state } = build;
  if (state.state !== 'started' || state.pause !== undefined) {
    ignoreFor(draft, found, event, 'a pause');
    return;
  }
  const since = within(event.at, state.at, draft.input.now);
  const { returned } = event;
  const fits = returned === undefined || excessReturned(item.buildset, build, returned) === undefined;
  const pause = { since, until: fits ? null : draft.input.now };
  if (!fits) draft.command({ kind: 'resume-build', build: build.uuid });
  putBuild(draft, found, {
    ...state,
    pause: fits && returned !== undefined ? { ...pause, returned } : pause,
  });
  if (fits) decidePause(draft, item, event.uuid, `${build.job} pauses while the jobs that depend on it run`);
}

/** Lets paused builds go on, all of whose dependents have ended; the same item where there is none. */
export function resumeBuilds(draft: TurnDraft, item: QueueItem, jobs: readonly JobNode[]): QueueItem {
  const { buildset } = item;
  if (!buildset.builds.some(isPaused)) return item;
  const current = currentBuilds(buildset);
  const builds = buildset.builds.map((build): Build => {
    const { state } = build;
    if (state.state !== 'started' || state.pause?.until !== null) return build;
    if (!dependentsOf(jobs, build.job).every(name => hasEnded(current.get(name)))) return build;
    draft.command({ kind: 'resume-build', build: build.uuid });
    decidePause(draft, item, null, `${build.job} goes on: the jobs that depend on it have ended`);
    return { ...build, state: { ...state, pause: { ...state.pause, until: draft.input.now } } };
  });
  return builds.every((build, index) => build === buildset.builds[index])
    ? item
    : { ...item, buildset: { ...buildset, builds } };
}

function decidePause(draft: TurnDraft, item: QueueItem, event: Uuid | null, text: string): void {
  draft.decide('pause', aboutItem(item, event), text);
}

function hasEnded(build: Build | undefined): boolean {
  return build !== undefined && isFinal(build);
}

/** Of all jobs that depend on this one, directly or not. */
function dependentsOf(jobs: readonly JobNode[], name: JobName): readonly JobName[] {
  const found = new Set<JobName>();
  const open = [name];
  for (let parent = open.pop(); parent !== undefined; parent = open.pop())
    for (const job of jobs) {
      if (found.has(job.name) || !job.dependencies.some(each => each.name === parent)) continue;
      found.add(job.name);
      open.push(job.name);
    }
  return [...found];
}

/** A job that is tried again after it had paused: what depends on it ran with a build that is gone, and is tried again with it. */
export function outdateDependents(draft: TurnDraft, uuid: Uuid, retried: Build, before: BuildState): void {
  const item = draft.item(uuid);
  if (item === undefined || before.state !== 'started' || before.pause === undefined) return;
  const dependents = new Set(dependentsOf(graphOf(item.buildset)?.jobs ?? [], retried.job));
  const cause = {
    code: 'parent-retried',
    at: draft.input.now,
    culprit: {
      item: item.uuid,
      change: changesText(item),
      buildset: item.buildset.uuid,
      build: retried.uuid,
      job: retried.job,
      result: 'RETRY',
    },
  } as const;
  const builds = item.buildset.builds.map((build): Build => {
    if (!dependents.has(build.job) || build.outdatedBy !== undefined) return build;
    const ended = isOpen(build) ? cancelBuild(draft, build, cause) : build;
    return { ...ended, outdatedBy: retried.job };
  });
  const outdated = { ...item, buildset: { ...item.buildset, builds } };
  if (!item.buildset.builds.some(build => dependents.has(build.job) && isOpen(build))) draft.put(outdated);
  else {
    const facts = { code: cause.code, buildset: item.buildset.uuid, build: retried.uuid, job: retried.job };
    draft.put(withEvent(outdated, { at: cause.at, name: 'cancel-requested', facts }));
  }
}
