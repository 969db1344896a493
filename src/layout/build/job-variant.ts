/** A `job:` stanza in the context of its file. */
import type { ConfigError } from '../../model/config-error.ts';
import type { Tenant } from '../../model/layout.ts';
import { type JobName, projectIdOf } from '../../model/project.ts';
import { labelsOf } from '../freeze/flatten-nodeset.ts';
import { unknownScopeError } from '../model/branch-scope.ts';
import { errorAt } from '../model/config-place.ts';
import type { JobVariant, LayoutFile } from '../model/layout.ts';
import type { BrokenStanza, JobStanza } from '../stanzas/stanzas.ts';
import type { CollectContext } from './collected.ts';

/** The parent of jobs that name none. */
function defaultParentIn({ defaultParent = 'base' }: Tenant): JobName {
  return defaultParent;
}

/** Its `broken` is set by checks that need no other stanza; `check-jobs.ts` does the rest. @param context its tenant bounds timeouts and nodes. */
export function jobVariant(stanza: JobStanza, file: LayoutFile, context: CollectContext): JobVariant {
  const { name } = stanza;
  const broken =
    parentError(stanza, file, context.tenant) ??
    attributeError(stanza, file, context) ??
    (stanza.branches === undefined ? unknownScopeError(file.implied) : undefined);
  return { name, file, stanza, parent: parentOf(stanza, context.tenant), branches: stanza.branches, broken };
}

/** Keeps the place of a job stanza with mistakes: a change of its branches that uses the job gets the error. */
export function brokenVariant(
  stanza: BrokenStanza,
  name: JobName,
  file: LayoutFile,
  broken: ConfigError,
): JobVariant {
  const { offset, branches } = stanza;
  const attributes: JobStanza = {
    kind: 'job',
    offset,
    name,
    parent: null,
    branches,
    attributes: {},
    offsets: new Map(),
  };
  return { name, file, stanza: attributes, parent: null, branches, broken };
}

function parentOf({ name, parent }: JobStanza, tenant: Tenant): JobName | null {
  if (parent === null) return null;
  if (parent !== undefined) return parent.name;
  const usual = defaultParentIn(tenant);
  return name === usual ? null : usual;
}

function parentError(
  { name, parent, offset, offsets }: JobStanza,
  file: LayoutFile,
  { projects }: Tenant,
): ConfigError | undefined {
  const at = offsets.get('parent') ?? offset;
  if (parent === null && !file.trusted) {
    const text = `base jobs (parent: null) may be defined in config-projects only; name a parent for job ${name}`;
    return errorAt(file, at, 'not-permitted', text);
  }
  if (parent === null && projects.some(each => each.project === file.project && each.noBaseJobs === true)) {
    const text = `the tenant file lets project ${projectIdOf(file.project).name} define no base jobs (allow-base-jobs: false); name a parent for job ${name}`;
    return errorAt(file, at, 'not-permitted', text);
  }
  if (parent?.name === name)
    return errorAt(file, at, 'parent-cycle', `job ${name} names itself as parent; name another job`);
  return undefined;
}

/** Checks that need no other stanza, for a definition or a project's override. */
export function attributeError(
  stanza: JobStanza,
  file: LayoutFile,
  { tenant, labels }: CollectContext,
): ConfigError | undefined {
  const { attributes, name, offset, offsets } = stanza;
  const refuse = (key: string, code: string, text: string) =>
    errorAt(file, offsets.get(key) ?? offset, code, text);
  for (const [key, seconds] of [
    ['timeout', attributes.timeout],
    ['pre-timeout', attributes.preTimeout],
    ['post-timeout', attributes.postTimeout],
  ] as const) {
    if (seconds === undefined || seconds <= tenant.maxJobTimeout) continue;
    const text = `${key} of job ${name} is ${seconds} s; tenant ${tenant.name} allows ${tenant.maxJobTimeout} s (max-job-timeout)`;
    return refuse(key, 'out-of-range', text);
  }
  const { nodeset } = attributes;
  if (nodeset?.kind === 'inline') {
    const forbidden = labels(labelsOf(nodeset));
    if (forbidden !== undefined)
      return refuse('nodeset', 'not-permitted', `nodeset of job ${name} cannot be used: ${forbidden}`);
  }
  const { ansibleVersion } = attributes;
  const { ansible } = tenant;
  if (ansibleVersion !== undefined && ansible !== undefined && !ansible.versions.includes(ansibleVersion)) {
    const text = `job ${name} wants Ansible ${ansibleVersion}, which this site does not have; it has ${ansible.versions.join(', ')}`;
    return refuse('ansible-version', 'unknown-ansible', text);
  }
  if (attributes.network === true && !file.trusted) {
    const text = `job ${name} cannot set "network" in an untrusted project; inherit from a job of a config-project that sets it`;
    return refuse('network', 'not-permitted', text);
  }
  return undefined;
}

/** What a definition, or a project's override, says that does nothing in this tenant. */
export function attributeWarnings(
  { attributes, offset, offsets }: JobStanza,
  file: LayoutFile,
  { tenant }: CollectContext,
): readonly ConfigError[] {
  if (attributes.ansibleVersion === undefined || tenant.ansible !== undefined) return [];
  const text =
    '"ansible-version" has no effect: playbooks run with the one Ansible of the executor ([scheduler] ansible_versions names others)';
  return [errorAt(file, offsets.get('ansible-version') ?? offset, 'no-effect', text, 'warning')];
}

/** A clause that says so; undefined: it may have that many. */
export function tooManyNodes(nodes: number, { name, maxNodesPerJob }: Tenant): string | undefined {
  if (maxNodesPerJob === undefined || nodes <= maxNodesPerJob) return undefined;
  return `it has ${nodes} nodes, tenant ${name} allows ${maxNodesPerJob} (max-nodes-per-job)`;
}
