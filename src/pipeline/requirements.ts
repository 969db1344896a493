/**
 * Whether a job has what it `requires`, by the jobs that provide it in the items it is tested behind.
 *
 *     live item ahead             its builds, ended or not; one that is paused has provided
 *     dependency item (check)     the builds of its change: of its live item in this pipeline, or else what that provided when it left
 *
 * As in Zuul, artifacts of the item farthest ahead come first, an item ahead whose provider failed keeps the job waiting (it is about to be
 * tested without that item), and what a change provided before counts for its very revision in this very pipeline. A job whose
 * provider failed there fails itself, with the reason.
 */
import { changeOfJob, changesText, leadChange } from '../model/about-item.ts';
import { isPaused, isRetried, resultOf, returnedBy } from '../model/build.ts';
import { currentBuild, graphOf } from '../model/build-set.ts';
import type { Change } from '../model/change.ts';
import type { JobNode, Json } from '../model/job.ts';
import { projectIdOf } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { ProvidedBuild, ProvidedByChange, RequirementWait } from '../model/requirement.ts';
import { artifactVariables } from '../model/returned.ts';
import { endedProviders, meets } from './provided.ts';
import type { TurnDraft } from './turn-draft.ts';

/** `artifacts` as they are in `zuul.artifacts`. */
export type Requirements =
  | { readonly kind: 'met'; readonly artifacts: readonly Json[] }
  | ({ readonly kind: 'waits' } & Pick<RequirementWait, 'requires' | 'item' | 'change'>)
  | { readonly kind: 'failed'; readonly text: string };

/** Where the job stands with the items ahead of its own. */
export function requirementsOf(draft: TurnDraft, item: QueueItem, job: JobNode): Requirements {
  const { requires = [] } = job;
  const artifacts: Json[] = [];
  if (requires.length === 0) return { kind: 'met', artifacts };
  for (let ahead = itemAhead(draft, item); ahead !== undefined; ahead = itemAhead(draft, ahead)) {
    const found = ofItem(draft, ahead, job);
    if (found.kind !== 'met') return found;
    artifacts.unshift(...found.artifacts);
  }
  return { kind: 'met', artifacts };
}

function itemAhead(draft: TurnDraft, { behind }: QueueItem): QueueItem | undefined {
  return behind === null ? undefined : draft.item(behind);
}

function ofItem(draft: TurnDraft, ahead: QueueItem, job: JobNode): Requirements {
  if (ahead.role === 'live') return ofLive(ahead, job, ahead);
  const live = draft.liveItems(leadChange(ahead).key).find(each => hasSameChanges(each, ahead));
  if (live !== undefined) return failedFirst(live, job) ?? ofLive(live, job, ahead);
  const artifacts: Json[] = [];
  for (const change of ahead.changes) {
    const found = ofRemembered(draft.provided, change, job);
    if (found.kind !== 'met') return found;
    artifacts.push(...found.artifacts);
  }
  return { kind: 'met', artifacts };
}

/** Of the same revisions. */
function hasSameChanges(live: QueueItem, { changes }: QueueItem): boolean {
  const names = new Set(live.changes.map(revisionOf));
  return live.changes.length === changes.length && changes.every(change => names.has(revisionOf(change)));
}

function revisionOf(change: Change): string {
  return change.kind === 'change' ? `${change.key} ${change.patchset}` : change.key;
}

/** @param ahead for the wait: the item, or the one that stands for it. */
function ofLive(live: QueueItem, job: JobNode, ahead: QueueItem): Requirements {
  const { requires = [] } = job;
  const waits = { kind: 'waits', requires, item: live.uuid, change: changesText(ahead) } as const;
  const graph = graphOf(live.buildset);
  // Its jobs are not known yet; one that ended without any provides nothing.
  if (graph === null) return live.buildset.stage.state === 'complete' ? NOTHING : waits;
  const artifacts: Json[] = [];
  for (const provider of providersIn(graph.jobs, requires)) {
    const build = currentBuild(live.buildset, provider.name);
    if (build === undefined || isRetried(build)) return waits;
    if (resultOf(build) !== 'SUCCESS' && !isPaused(build)) return waits;
    const change = changeOfJob(live, provider);
    // What a branch holds is no change that others depend on, as in Zuul.
    if (change.kind !== 'change') return waits;
    const returned = returnedBy(build)?.artifacts ?? [];
    artifacts.push(...shown(returned, change, provider.plainName ?? provider.name));
  }
  return { kind: 'met', artifacts };
}

const NOTHING: Requirements = { kind: 'met', artifacts: [] };

/** Elsewhere in the pipeline nothing tests the job again without that item: it need not wait until the item leaves. */
function failedFirst(live: QueueItem, job: JobNode): Requirements | undefined {
  const failed = endedProviders(live.buildset, job.requires ?? []).find(({ result }) => result !== 'SUCCESS');
  return failed === undefined ? undefined : failure(job, failed, changesText(live));
}

function ofRemembered(remembered: readonly ProvidedByChange[], change: Change, job: JobNode): Requirements {
  const { requires = [] } = job;
  if (change.kind !== 'change') return NOTHING;
  const known = remembered.findLast(each => each.change === change.key && each.patchset === change.patchset);
  const builds = (known?.builds ?? []).filter(({ provides }) => meets(provides, requires));
  const failed = builds.find(({ result }) => result !== 'SUCCESS');
  if (failed !== undefined) return failure(job, failed, `${change.project} ${change.id}`);
  return { kind: 'met', artifacts: builds.flatMap(build => shown(build.artifacts, change, build.job)) };
}

function failure({ name, requires = [] }: JobNode, build: ProvidedBuild, change: string): Requirements {
  const what = requires.filter(each => build.provides.includes(each)).join(', ');
  const text = `${name} requires ${what}, and ${build.job} of ${change}, which provides it, ended with ${build.result}`;
  return { kind: 'failed', text };
}

function shown(
  artifacts: ProvidedBuild['artifacts'],
  change: Extract<Change, { kind: 'change' }>,
  job: string,
): readonly Json[] {
  const { name } = projectIdOf(change.project);
  return artifacts.map(artifact => ({
    ...artifactVariables(artifact),
    project: name,
    change: change.id,
    patchset: change.patchset,
    job,
  }));
}

function providersIn(jobs: readonly JobNode[], requires: readonly string[]): readonly JobNode[] {
  return jobs.filter(({ provides = [] }) => meets(provides, requires));
}
