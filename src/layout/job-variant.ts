/** A `job:` stanza in the context of its file. */
import type { ConfigError } from '../model/config-error.ts';
import type { Tenant } from '../model/layout.ts';
import type { JobName } from '../model/project.ts';
import { errorAt } from './config-place.ts';
import type { JobVariant, LayoutFile } from './layout.ts';
import type { BrokenStanza, JobStanza } from './stanzas.ts';

/** The parent of jobs that name none. */
export const DEFAULT_PARENT: JobName = 'base';

/** Its `broken` is set by checks that need no other stanza; `check-jobs.ts` does the rest. @param tenant bounds the timeouts. */
export function jobVariant(stanza: JobStanza, file: LayoutFile, tenant: Tenant): JobVariant {
  const { name } = stanza;
  const broken = parentError(stanza, file) ?? attributeError(stanza, file, tenant);
  return { name, file, stanza, parent: parentOf(stanza), branches: stanza.branches, broken };
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

function parentOf({ name, parent }: JobStanza): JobName | null {
  if (parent === null) return null;
  if (parent !== undefined) return parent.name;
  return name === DEFAULT_PARENT ? null : DEFAULT_PARENT;
}

function parentError(
  { name, parent, offset, offsets }: JobStanza,
  file: LayoutFile,
): ConfigError | undefined {
  const at = offsets.get('parent') ?? offset;
  if (parent === null && !file.trusted) {
    const text = `base jobs (parent: null) may be defined in config-projects only; name a parent for job ${name}`;
    return errorAt(file, at, 'not-permitted', text);
  }
  if (parent?.name === name)
    return errorAt(file, at, 'parent-cycle', `job ${name} names itself as parent; name another job`);
  return undefined;
}

/** Checks that need no other stanza, for a definition or a project's override. */
export function attributeError(stanza: JobStanza, file: LayoutFile, tenant: Tenant): ConfigError | undefined {
  const { attributes, name, offset, offsets } = stanza;
  const refuse = (key: string, code: string, text: string) =>
    errorAt(file, offsets.get(key) ?? offset, code, text);
  for (const [key, seconds] of [
    ['timeout', attributes.timeout],
    ['post-timeout', attributes.postTimeout],
  ] as const) {
    if (seconds === undefined || seconds <= tenant.maxJobTimeout) continue;
    const text = `${key} of job ${name} is ${seconds} s; tenant ${tenant.name} allows ${tenant.maxJobTimeout} s (max-job-timeout)`;
    return refuse(key, 'out-of-range', text);
  }
  if (attributes.network === true && !file.trusted) {
    const text = `job ${name} cannot set "network" in an untrusted project; inherit from a job of a config-project that sets it`;
    return refuse('network', 'not-permitted', text);
  }
  return undefined;
}
