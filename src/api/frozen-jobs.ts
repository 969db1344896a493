/**
 * Frozen jobs as Zuul's API shows them. Secrets are named, never shown: a frozen job holds no value of one, and what is encrypted of them
 * is left out as well. Pure.
 */
import type { FrozenJob, Json, NodeRequirement, Playbook } from '../model/job.ts';
import { type ProjectKey, projectIdOf } from '../model/project.ts';

/** `freeze-jobs` of Zuul: jobs with the jobs that they wait for. */
export function jobGraphDocument(jobs: readonly FrozenJob[]): readonly Json[] {
  return jobs.map(({ name, dependencies }) => ({
    name,
    dependencies: dependencies.map(({ name: needed, soft }) => ({ name: needed, soft })),
  }));
}

/** Zuul's `freeze-job`, as far as Gatehouse has its parts; what Zuul lacks is in `gatehouse`. @param canonical name of a project with its host. */
export function frozenJobDocument(job: FrozenJob, canonical: (project: ProjectKey) => string): Json {
  const playbooks = (all: readonly Playbook[]) =>
    all.map(({ project, branch, path, trusted, secrets = [] }) => ({
      ...{ connection: projectIdOf(project).connection, project: canonical(project), branch, path, trusted },
      secrets: secrets.map(({ name }) => name),
    }));
  return {
    job: job.name,
    description: job.description ?? null,
    voting: job.voting,
    attempts: job.attempts,
    timeout: job.timeout ?? null,
    pre_timeout: job.preTimeout ?? null,
    post_timeout: job.postTimeout ?? null,
    override_checkout: job.overrideCheckout ?? null,
    ansible_version: job.ansibleVersion ?? null,
    // In any case: Ansible's own modules never join the outputs of a command.
    ansible_split_streams: true,
    failure_output: [...(job.failureOutput ?? [])],
    dependencies: job.dependencies.map(({ name, soft }) => ({ name, soft })),
    pre_playbooks: playbooks(job.preRun),
    playbooks: playbooks(job.run),
    post_playbooks: playbooks(job.postRun),
    nodeset: {
      name: job.nodesetName ?? '',
      nodes: job.nodes.map(nodeDocument),
      groups: (job.groups ?? []).map(({ name, nodes }) => ({ name, nodes: [...nodes] })),
    },
    required_projects: job.requiredProjects.map(({ project, overrideCheckout }) => ({
      name: projectIdOf(project).name,
      canonical_name: canonical(project),
      override_checkout: overrideCheckout ?? null,
    })),
    vars: job.vars,
    extra_vars: job.extraVars ?? {},
    host_vars: job.hostVars ?? {},
    group_vars: job.groupVars ?? {},
    semaphores: (job.semaphores ?? []).map(({ name }) => name),
    tags: [...job.tags],
    gatehouse: { network: job.network, defined_at: [...job.definedAt] },
  };
}

function nodeDocument({ name, label, aliases = [] }: NodeRequirement): Json {
  return { name: [name, ...aliases], label };
}
