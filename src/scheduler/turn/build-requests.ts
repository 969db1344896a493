/** Build requests: all inputs of a build, from the item, its frozen job and the tested state. */

import { secretsOfJobs } from '../../layout/build/layout-secret.ts';
import type { Nanoseconds } from '../../lib/clock.ts';
import { spanIdOf, traceIdOf, type Uuid } from '../../lib/ids.ts';
import { changeOfJob, changesText } from '../../model/about-item.ts';
import type { BuildPlaybook, BuildRequest, BuildTrace } from '../../model/build-request.ts';
import { type BuildSet, type TestedMerge, testedMergeOf } from '../../model/build-set.ts';
import type { FrozenJob, JobGraph, Json } from '../../model/job.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import { chainOf } from '../../model/pipeline-state.ts';
import type { JobName } from '../../model/project.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { SemaphoreRule } from '../../model/semaphore.ts';
import { sharedPlace } from '../../model/workspace-place.ts';
import type { TracePolicy } from '../../tracing/live-tracing.ts';
import { type BuildPlaybooks, buildPlaybooks } from './build-playbooks.ts';
import { buildProjects, type ProjectPlaces } from './build-projects.ts';
import { buildVarsFiles } from './build-vars-files.ts';
import { parentDataOf } from './parent-data.ts';
import { zuulVariables } from './zuul-variables.ts';

/** `priority` includes the rank of relative-priority.ts; `graph` is that of the item's buildset. */
export interface BuildRequestContext {
  readonly items: ReadonlyMap<Uuid, QueueItem>;
  readonly pipeline: Pipeline;
  readonly graph: JobGraph;
  readonly now: Nanoseconds;
  readonly priority: number;
  readonly places: ProjectPlaces;
  /** What the configuration says of a semaphore now. */
  readonly semaphoreOf: (name: string) => SemaphoreRule;
  /** Null: tracing is off. */
  readonly tracing: null | Pick<TracePolicy, 'splitAfterMs'>;
}

/** `impossible`: the build ends with ERROR and `text`, without a request. */
export type BuildRequestOutcome =
  | { readonly kind: 'request'; readonly request: BuildRequest }
  /** It cannot run, and a retry would not help. */
  | { readonly kind: 'impossible'; readonly text: string };

/** @throws Error when item, graph and command do not belong together, which is an internal error. */
export function buildRequestFor(
  command: {
    readonly build: Uuid;
    readonly job: string;
    readonly attempt: number;
    readonly artifacts?: readonly Json[];
  },
  item: QueueItem,
  context: BuildRequestContext,
): BuildRequestOutcome {
  const job = context.graph.jobs.find(each => each.name === command.job);
  if (job === undefined)
    throw new Error(`job ${command.job} is not in the graph of buildset ${item.buildset.uuid}`);
  const tested = testedOf(item.buildset);
  const chain = chainOf(context.items, item);
  const of = changeOfJob(item, job);
  const projects = buildProjects(
    job,
    chain.flatMap(each => each.changes),
    [of, ...item.changes.filter(change => change !== of)],
    tested,
    context.places,
  );
  const shared = sharedPlace(
    projects.map(({ project, canonicalName, place = canonicalName }) => ({ project, place })),
  );
  if (shared !== undefined) return { kind: 'impossible', text: `job ${job.name} cannot run: ${shared}` };
  const found = buildPlaybooks(job, of, tested, context.places);
  if (found.kind === 'missing') return { kind: 'impossible', text: missingText(found) };
  const parents = parentDataOf(job, item, context.graph);
  const files = buildVarsFiles(job, of, tested, context.places);
  if (files.kind === 'missing') {
    const text = `${files.project} has no branch to take variables file ${files.path} from`;
    return { kind: 'impossible', text };
  }
  const request: BuildRequest = {
    uuid: command.build,
    tenant: item.tenant,
    pipeline: item.pipeline,
    item: item.uuid,
    buildset: item.buildset.uuid,
    job,
    jobName: job.name,
    attempt: command.attempt,
    requestedAt: context.now,
    priority: context.priority,
    projects,
    ...withHolds(found.playbooks, item, context),
    ...(found.roles === undefined ? {} : { roles: found.roles }),
    ...secretsFor(job, context.graph),
    ...(context.pipeline.postReview ? { sshKeyOf: of.project } : {}),
    ...(files.files.length === 0 ? {} : { includeVars: files.files }),
    ...parents.request,
    zuul: zuulVariables({
      item,
      chain,
      pipeline: context.pipeline,
      job,
      children: childrenOf(job, context.graph),
      build: command.build,
      attempt: command.attempt,
      projects,
      artifacts: [...(command.artifacts ?? []), ...parents.artifacts],
      canonicalName: context.places.canonicalName,
    }),
    trace: context.tracing === null ? null : traceOf(command.build, item, context.tracing),
  };
  return { kind: 'request', request };
}

/** Of a cycle, jobs of several changes may have one name. */
function childrenOf({ name }: FrozenJob, { jobs }: JobGraph): readonly JobName[] {
  const children = jobs.filter(({ dependencies }) => dependencies.some(each => each.name === name));
  return [...new Set(children.map(child => child.plainName ?? child.name))];
}

function missingText({ playbook, role }: Extract<BuildPlaybooks, { readonly kind: 'missing' }>): string {
  const { project, branch, path, trusted } = playbook;
  if (role !== undefined) return `${role.project} has no branch to take roles of playbook ${path} from`;
  return `${project} has no branch ${branch}${trusted ? '' : ' (nor master or main)'} to take playbook ${path} from`;
}

/** The playbooks with what the configuration says of their semaphores now; and the changes, which builds that wait for them are shown. */
function withHolds(
  { preRun, run, postRun }: BuildRequest['playbooks'],
  item: QueueItem,
  { semaphoreOf }: BuildRequestContext,
): Pick<BuildRequest, 'playbooks' | 'changes'> {
  const held = (playbook: BuildPlaybook): BuildPlaybook => {
    const { semaphores = [] } = playbook;
    if (semaphores.length === 0) return playbook;
    return { ...playbook, holds: semaphores.map(name => ({ name, ...semaphoreOf(name) })) };
  };
  const any = [preRun, run, postRun].flat().some(({ semaphores }) => semaphores !== undefined);
  return {
    playbooks: { preRun: preRun.map(held), run: run.map(held), postRun: postRun.map(held) },
    ...(any ? { changes: changesText(item) } : {}),
  };
}

/** Only those that the job's own playbooks get. */
function secretsFor(job: FrozenJob, { secrets = {} }: JobGraph): Pick<BuildRequest, 'secrets'> {
  const used = secretsOfJobs([job]);
  if (used.size === 0) return {};
  return { secrets: Object.fromEntries(Object.entries(secrets).filter(([sha256]) => used.has(sha256))) };
}

function traceOf(
  build: Uuid,
  item: QueueItem,
  { splitAfterMs }: Pick<TracePolicy, 'splitAfterMs'>,
): BuildTrace {
  const own = item.buildset.builds.find(each => each.uuid === build)?.ownTrace === true;
  return {
    traceId: traceIdOf(item.uuid),
    buildSpan: spanIdOf(build),
    sampled: item.sampled,
    event: item.origin.event,
    ...(item.traceState === undefined ? {} : { traceState: item.traceState }),
    ...(own ? { own } : splitAfterMs > 0 ? { splitAfterMs } : {}),
  };
}

function testedOf(buildset: BuildSet): TestedMerge {
  const tested = testedMergeOf(buildset);
  if (tested === null)
    throw new Error(`buildset ${buildset.uuid} has no tested merge in state ${buildset.stage.state}`);
  return tested;
}
