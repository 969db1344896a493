/**
 * The configuration that a run freezes its job of. Pure. Two ways:
 *
 *     alone      the checkouts are all the projects there are. Pipelines that they name exist and do nothing, and so does a job `base`
 *                that none of them defines.
 *     of tenant  the tenant's configuration as its repositories have it, with what the checkouts have in its place.
 *
 * Either way there is one more config-project with the pipeline {@link OWN_PIPELINE}, in which the project runs the job alone: for jobs that
 * no pipeline of the project runs.
 */
import type { LayoutInput } from '../../layout/build/build-layout.ts';
import { parseCache } from '../../layout/stanzas/parse-cache.ts';
import { parseFile } from '../../layout/stanzas/parse-file.ts';
import { type ParsedStanza, STANZA_KINDS } from '../../layout/stanzas/stanzas.ts';
import { canonicalNameIn } from '../../layout/tenant/resolve-project.ts';
import type { Tenant, TenantProject } from '../../model/layout.ts';
import type { BranchConfig } from '../../model/merge.ts';
import { type ProjectKey, parseCommitId, projectIdOf, projectKey } from '../../model/project.ts';

/** Of the run alone. */
export const OWN_PIPELINE = 'gatehouse-run';
/** Holds {@link OWN_PIPELINE}; no code host has it. */
export const OWN_PROJECT = projectKey({ connection: OWN_PIPELINE, name: OWN_PIPELINE });

const NO_COMMIT = parseCommitId('0'.repeat(40));

/** Configuration of the checkouts alone. @param checkouts whose connections are their hosts. */
export function aloneInput(checkouts: readonly BranchConfig[]): LayoutInput {
  const stanzas = new Map(checkouts.map(each => [each.project, stanzasOf(each)]));
  const all = [...stanzas.values()].flat();
  const projects = checkouts.map(({ project }): TenantProject => {
    const trusted = isConfigProject(stanzas.get(project) ?? []);
    // Its pipelines name connections, and there are none.
    const itemKinds = STANZA_KINDS.filter(kind => kind !== 'pipeline');
    return { project, trusted, includeBranches: [], excludeBranches: [], ...(trusted ? { itemKinds } : {}) };
  });
  const connections = [...new Set(checkouts.map(({ project }) => projectIdOf(project).connection))];
  const tenant: Tenant = {
    name: 'local',
    projects: [...projects.filter(({ trusted }) => trusted), ...projects.filter(({ trusted }) => !trusted)],
    hosts: Object.fromEntries(connections.map(name => [name, name])),
    maxJobTimeout: 7 * 86_400,
  };
  const base = all.some(each => nameOf(each) === 'base' && kindOf(each) === 'job')
    ? []
    : [{ job: { name: 'base', parent: null } }];
  const pipelines = [...pipelinesIn(all)].map(name => ({
    pipeline: { name, manager: 'independent', 'post-review': true },
  }));
  const input = { tenant, configs: checkouts, languages: new Map(), cache: parseCache() };
  return withOwnProject(input, [...pipelines, ...base]);
}

/** The tenant's, with the checkouts' in the place of theirs. */
export function tenantInput(input: LayoutInput, checkouts: readonly BranchConfig[]): LayoutInput {
  const isCheckedOut = ({ project, branch }: BranchConfig) =>
    checkouts.some(each => each.project === project && each.branch === branch);
  const configs = [...input.configs.filter(each => !isCheckedOut(each)), ...checkouts];
  return withOwnProject({ ...input, configs, proposed: checkouts }, []);
}

/** Has {@link OWN_PIPELINE} run the job. */
export function withJob(input: LayoutInput, project: ProjectKey, job: string): LayoutInput {
  // Dependencies are other jobs, which do not run.
  const stanza = {
    project: {
      name: canonicalNameIn(project, input.tenant),
      [OWN_PIPELINE]: { jobs: [{ [job]: { dependencies: [] } }] },
    },
  };
  const configs = input.configs.map(each =>
    each.project === OWN_PROJECT
      ? { ...each, files: [...each.files, fileOf('zuul.d/job.yaml', [stanza])] }
      : each,
  );
  return { ...input, configs };
}

function withOwnProject(input: LayoutInput, stanzas: readonly object[]): LayoutInput {
  const own = { pipeline: { name: OWN_PIPELINE, manager: 'independent', 'post-review': true } };
  const files = [fileOf('zuul.d/pipelines.yaml', [own, ...stanzas])];
  const config: BranchConfig = { project: OWN_PROJECT, branch: 'master', commit: NO_COMMIT, files };
  const project = { project: OWN_PROJECT, trusted: true, includeBranches: [], excludeBranches: [] };
  const { tenant, configs } = input;
  const hosts = { ...tenant.hosts, [OWN_PIPELINE]: OWN_PIPELINE };
  return {
    ...input,
    tenant: { ...tenant, hosts, projects: [project, ...tenant.projects] },
    configs: [...configs, config],
  };
}

/** JSON is YAML. */
function fileOf(path: string, stanzas: readonly object[]) {
  return { path, text: JSON.stringify(stanzas) };
}

function stanzasOf({ files }: BranchConfig): readonly ParsedStanza[] {
  return files.flatMap(file => (file.problem === undefined ? parseFile(file.text).stanzas : []));
}

function kindOf(stanza: ParsedStanza): string {
  return stanza.kind === 'broken' ? (stanza.of ?? 'broken') : stanza.kind;
}

function nameOf(stanza: ParsedStanza): string | undefined {
  return 'name' in stanza ? stanza.name : undefined;
}

/** It has what only config-projects may have. */
function isConfigProject(stanzas: readonly ParsedStanza[]): boolean {
  return stanzas.some(each => kindOf(each) === 'pipeline' || (each.kind === 'job' && each.parent === null));
}

/** Those it defines, and those in which projects run jobs. */
function pipelinesIn(stanzas: readonly ParsedStanza[]): ReadonlySet<string> {
  return new Set(
    stanzas.flatMap(stanza => {
      if (kindOf(stanza) === 'pipeline') return nameOf(stanza) ?? [];
      if (stanza.kind !== 'project' && stanza.kind !== 'project-template') return [];
      return stanza.pipelines.map(({ pipeline }) => pipeline.name);
    }),
  );
}
