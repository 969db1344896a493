/** The `zuul` variables of a job, named and shaped as in Zuul, for scripts and playbooks written for it. */
import type { Uuid } from '../../lib/ids.ts';
import { changeOfJob } from '../../model/about-item.ts';
import type { BuildProject } from '../../model/build-request.ts';
import { type Change, targetBranchOf } from '../../model/change.ts';
import type { FrozenJob, Json } from '../../model/job.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import { type JobName, type ProjectKey, projectIdOf } from '../../model/project.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import { workspacePlace } from '../../model/workspace-place.ts';

/** One build of an item. */
export interface VariableInput {
  readonly item: QueueItem;
  /** The items it is tested behind and itself, oldest first. */
  readonly chain: readonly QueueItem[];
  readonly pipeline: Pipeline;
  readonly job: FrozenJob;
  /** Names of the jobs that depend on it directly, as they are configured. */
  readonly children: readonly JobName[];
  readonly build: Uuid;
  readonly attempt: number;
  readonly projects: readonly BuildProject[];
  /** As they are in `zuul.artifacts`. */
  readonly artifacts: readonly Json[];
  /** As in build-projects.ts. */
  canonicalName(project: ProjectKey): string;
}

type Variables = { [name: string]: Json };

/** Plain JSON, a part of the build request. */
export function zuulVariables(input: VariableInput): Variables {
  const { item, job, pipeline } = input;
  const change = changeOfJob(item, job);
  return {
    ...changeVariables(change),
    build: input.build,
    buildset: item.buildset.uuid,
    buildset_refs: item.changes.map(each => refVariables(each, input)),
    ...(input.artifacts.length === 0 ? {} : { artifacts: input.artifacts }),
    attempts: input.attempt,
    max_attempts: job.attempts,
    event_id: item.origin.event,
    items: input.chain.flatMap(each => itemVariables(each, input)),
    child_jobs: [...input.children],
    job: job.plainName ?? job.name,
    jobtags: [...job.tags],
    pipeline: item.pipeline,
    post_review: pipeline.postReview,
    project: projectVariables(change.project, input),
    projects: Object.fromEntries(
      input.projects.map(project => [project.canonicalName, checkoutVariables(project)]),
    ),
    tenant: item.tenant,
    timeout: job.timeout ?? null,
    pre_timeout: job.preTimeout ?? null,
    post_timeout: job.postTimeout ?? null,
    voting: job.voting,
    ...(job.overrideCheckout === undefined ? {} : { override_checkout: job.overrideCheckout }),
  };
}

/** Revisions that do not exist (a created or deleted ref) are left out, as in Zuul. */
function changeVariables(change: Change): Variables {
  if (change.kind === 'change') {
    return {
      branch: change.branch,
      change: change.id,
      patchset: change.patchset,
      commit_id: change.commit,
      ref: change.ref,
      change_message: change.subject,
      ...(change.url === undefined ? {} : { change_url: change.url }),
    };
  }
  const branch = targetBranchOf(change);
  return {
    ref: change.ref,
    ...(branch === undefined ? {} : { branch }),
    ...(change.ref.startsWith('refs/tags/') ? { tag: change.ref.slice('refs/tags/'.length) } : {}),
    ...(change.oldCommit === null ? {} : { oldrev: change.oldCommit }),
    ...(change.newCommit === null ? {} : { newrev: change.newCommit, commit_id: change.newCommit }),
  };
}

/** Changes of one item have the same `bundle_id`; Zuul gives a change alone none. */
function itemVariables({ uuid, changes }: QueueItem, input: VariableInput): readonly Json[] {
  const bundle = changes.length > 1 ? { bundle_id: uuid } : {};
  return changes.map(change => ({ ...refVariables(change, input), ...bundle }));
}

function refVariables(change: Change, input: VariableInput): Variables {
  return { ...changeVariables(change), project: projectVariables(change.project, input) };
}

function projectVariables(project: ProjectKey, input: VariableInput): Json {
  const { name } = projectIdOf(project);
  const canonical = input.canonicalName(project);
  return {
    name,
    short_name: name.slice(name.lastIndexOf('/') + 1),
    canonical_hostname: canonical.slice(0, canonical.length - name.length - 1),
    canonical_name: canonical,
    src_dir: `src/${workspacePlace(input.job.workspaceScheme, project, canonical)}`,
  };
}

function checkoutVariables(project: BuildProject): Json {
  const { name } = projectIdOf(project.project);
  return {
    name,
    short_name: name.slice(name.lastIndexOf('/') + 1),
    canonical_name: project.canonicalName,
    canonical_hostname: project.canonicalName.slice(0, project.canonicalName.length - name.length - 1),
    src_dir: `src/${project.place ?? project.canonicalName}`,
    required: project.required,
    checkout: project.branch,
    commit: project.commit,
  };
}
