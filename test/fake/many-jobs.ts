/**
 * The configuration of a large tenant, for the benchmark and the counts of layouts: a config-project, and repositories with as many jobs
 * each, which inherit from each other, match files and are listed in two pipelines.
 */

import type { Tenant } from '../../src/model/layout.ts';
import type { BranchConfig, ConfigFile } from '../../src/model/merge.ts';
import { type ProjectKey, parseCommitId, projectKey } from '../../src/model/project.ts';

const PIPELINES = `
- pipeline:
    name: check
    manager: independent
    trigger: {git: [{event: proposed}]}
    success: {git: {}}
- pipeline:
    name: gate
    manager: dependent
    trigger: {git: [{event: approved}]}
    success: {git: {merge: true}}
- job:
    name: base
    parent: null
    pre-run: playbooks/base/pre.yaml
    post-run: playbooks/base/post.yaml
    nodeset: {nodes: [{name: main, label: debian}]}
`;

/** @param name of the tenant, which has the projects of every other tenant too. @param repositories besides the config-project. */
export function largeTenant(name: string, repositories: number): Tenant {
  const options = { includeBranches: [], excludeBranches: [] };
  return {
    name,
    projects: Array.from({ length: repositories + 1 }, (_, index) => ({
      project: projectNumber(index),
      trusted: index === 0,
      ...options,
    })),
    hosts: { git: 'git.example.org' },
    maxJobTimeout: 10_800,
  };
}

/** Of a tenant with as many repositories; each call makes new objects of the same texts, as reading them from elsewhere does. */
export function largeConfigs(repositories: number, jobs: number): readonly BranchConfig[] {
  return Array.from({ length: repositories + 1 }, (_, index) =>
    configOf(index, index === 0 ? PIPELINES : repositoryText(index, jobs)),
  );
}

/** The only file of the project's master branch. @param index 0: the config-project. */
export function configOf(index: number, text: string): BranchConfig {
  const file: ConfigFile = { path: '.zuul.yaml', text };
  return {
    project: projectNumber(index),
    branch: 'master',
    commit: parseCommitId('1'.repeat(40)),
    files: [file],
  };
}

/** @param listed name of a listed job by its index; default: the name of the defined one. */
export function repositoryText(
  index: number,
  jobs: number,
  listed: (job: number) => string = job => jobName(index, job),
): string {
  const all = Array.from({ length: jobs }, (_, job) => job);
  const list = all.map(job => `        - ${listed(job)}\n`).join('');
  const project = `- project:\n    check:\n      jobs:\n${list}    gate:\n      jobs:\n${list}`;
  return all.map(job => jobText(index, job)).join('') + project;
}

function jobText(index: number, job: number): string {
  return `
- job:
    name: ${jobName(index, job)}
    parent: ${job === 0 ? 'base' : jobName(index, Math.floor((job - 1) / 3))}
    description: |
      Tests part ${job} of repository ${index}.
      It needs a compiler.
    run: playbooks/part-${job}.yaml
    timeout: 3600
    files:
      - ^src/part-${job}/.*
      - ^lib/.*\\.py$
    irrelevant-files: ^doc/.*$
    vars:
      part: ${job}
      packages: [gcc, make, "lib-${job}"]
`;
}

function jobName(index: number, job: number): string {
  return `repository-${index}-job-${job}`;
}

function projectNumber(index: number): ProjectKey {
  return projectKey({ connection: 'git', name: index === 0 ? 'acme/config' : `acme/repository-${index}` });
}
