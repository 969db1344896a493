/**
 * What a build gets of those its job depends on, directly or not: data, of which the later job in the graph wins, sealed secret data, and
 * artifacts in the order of the graph. As in Zuul.
 */
import { changeOfJob } from '../../model/about-item.ts';
import { returnedBy } from '../../model/build.ts';
import type { BuildRequest } from '../../model/build-request.ts';
import { currentBuild } from '../../model/build-set.ts';
import type { Change } from '../../model/change.ts';
import type { FrozenJob, JobGraph, Json, Variables } from '../../model/job.ts';
import { mergeVars } from '../../model/merge-vars.ts';
import { projectIdOf } from '../../model/project.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import { artifactVariables, type Returned, type SealedData } from '../../model/returned.ts';

/** `artifacts` are those of `zuul.artifacts`; empty: the variable is absent. */
export interface ParentData {
  readonly request: Pick<BuildRequest, 'parentData' | 'sealedData'>;
  readonly artifacts: readonly Json[];
}

/** @param job of the item, whose builds it depends on have ended or are paused. */
export function parentDataOf(job: FrozenJob, item: QueueItem, { jobs }: JobGraph): ParentData {
  const parents = parentsOf(job, jobs);
  let data: Variables = {};
  const sealedData: SealedData[] = [];
  const artifacts: Json[] = [];
  for (const parent of jobs) {
    if (!parents.has(parent.name)) continue;
    const build = currentBuild(item.buildset, parent.name);
    const returned = build === undefined ? undefined : returnedBy(build);
    if (build === undefined || returned === undefined) continue;
    data = mergeVars(data, returned.data ?? {});
    if (returned.sealed !== undefined) sealedData.push({ build: build.uuid, sealed: returned.sealed });
    artifacts.push(...artifactsIn(returned, parent, changeOfJob(item, parent)));
  }
  return {
    request: {
      ...(Object.keys(data).length === 0 ? {} : { parentData: data }),
      ...(sealedData.length === 0 ? {} : { sealedData }),
    },
    artifacts,
  };
}

function parentsOf(job: FrozenJob, jobs: readonly FrozenJob[]): ReadonlySet<string> {
  const byName = new Map(jobs.map(each => [each.name, each]));
  const found = new Set<string>();
  const open = job.dependencies.map(({ name }) => name);
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    open.push(...(byName.get(name)?.dependencies ?? []).map(each => each.name));
  }
  return found;
}

function artifactsIn({ artifacts = [] }: Returned, job: FrozenJob, change: Change): readonly Json[] {
  return artifacts.map(artifact => ({ ...artifactVariables(artifact), ...origin(job, change) }));
}

function origin(job: FrozenJob, change: Change): Variables {
  const common = { project: projectIdOf(change.project).name, job: job.plainName ?? job.name };
  if (change.kind === 'change')
    return { ...common, branch: change.branch, change: change.id, patchset: change.patchset };
  if (change.branch !== undefined) return { ...common, branch: change.branch };
  const tag = change.ref.startsWith('refs/tags/') ? { tag: change.ref.slice('refs/tags/'.length) } : {};
  return { ...common, ref: change.ref, oldrev: change.oldCommit, newrev: change.newCommit, ...tag };
}
