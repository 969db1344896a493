/** Second pass: references of jobs. A variant with a bad reference is broken; other variants of the job are not. */
import { stronglyConnected } from '../../lib/tarjan.ts';
import type { ConfigError } from '../../model/config-error.ts';
import type { Tenant } from '../../model/layout.ts';
import { projectIdOf } from '../../model/project.ts';
import { flattenNodeset } from '../freeze/flatten-nodeset.ts';
import { notUndone, onlyAbstract } from '../freeze/job-draft.ts';
import { errorAt, placeText } from '../model/config-place.ts';
import type { JobVariant, LayoutFile } from '../model/layout.ts';
import { NOOP_JOB } from '../model/noop-job.ts';
import { shortList } from '../model/short-list.ts';
import type { JobStanza, NodesetReference } from '../stanzas/stanzas.ts';
import { nodesetProblem, nodesetsIn } from './check-nodesets.ts';
import type { CollectContext, Collected } from './collected.ts';
import { tooManyNodes } from './job-variant.ts';
import { secretError } from './layout-secret.ts';
import { missingNameHint } from './missing-name.ts';

/**
 * Marks each variant whose parent, nodeset or required project cannot be used, and adds the first error of each. Changes
 * `collected`, which must hold all stanzas.
 */
export function checkJobs(collected: Collected, context: CollectContext): void {
  const cyclic = jobsInParentCycles(collected.jobs);
  const restrictions = cached(restrictionsOf);
  for (const [name, variants] of collected.jobs) {
    const checked = variants.map(variant => {
      if (variant.broken !== undefined) return variant;
      const broken =
        parentReferenceError(variant, collected, cyclic, restrictions) ??
        referenceError(variant.stanza, variant.file, collected, context);
      collected.errors.push(...unknownDependencies(variant.stanza, variant.file, collected));
      if (broken === undefined) return variant;
      // Projects come without a base job where none of their jobs is used: a change that uses one gets the error.
      const severity = lacksDefaultParent(variant, collected) ? 'warning' : broken.severity;
      collected.errors.push({ ...broken, severity });
      return { ...variant, broken };
    });
    collected.jobs.set(name, checked);
  }
}

function lacksDefaultParent({ parent, stanza }: JobVariant, { jobs }: Collected): boolean {
  return stanza.parent === undefined && parent !== null && !jobs.has(parent);
}

interface Restrictions {
  readonly final: JobVariant | undefined;
  /** `protected`. All variants of a job are of one project. */
  readonly guarded: JobVariant | undefined;
  /** `post-review`. */
  readonly reviewed: JobVariant | undefined;
  /** `intermediate`: all are. */
  readonly isIntermediate: boolean;
}

function restrictionsOf(variants: readonly JobVariant[]): Restrictions {
  return {
    final: variants.find(({ stanza }) => stanza.attributes.final === true),
    guarded: variants.find(({ stanza }) => stanza.attributes.protected === true),
    reviewed: variants.find(({ stanza }) => stanza.attributes.postReview === true),
    isIntermediate: variants.every(({ stanza }) => stanza.attributes.intermediate === true),
  };
}

/** Computes once per key: many jobs may inherit from one that has many variants. */
function cached<Key extends object, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return key => {
    const value = known.get(key) ?? compute(key);
    known.set(key, value);
    return value;
  };
}

function parentReferenceError(
  { name, parent, stanza, file }: JobVariant,
  collected: Collected,
  cyclic: ReadonlyMap<string, string>,
  restrictions: (variants: readonly JobVariant[]) => Restrictions,
): ConfigError | undefined {
  if (parent === null) return undefined;
  const at = stanza.offsets.get('parent') ?? stanza.offset;
  const { jobs } = collected;
  const parents = jobs.get(parent);
  if (parents === undefined) {
    const implied =
      stanza.parent === undefined ? `; job ${name} names no parent, so it inherits from ${parent}` : '';
    const text = `Job ${parent} not defined${missingNameHint(parent, jobs.keys(), collected)}${implied}`;
    return errorAt(file, at, 'job-not-defined', text);
  }
  const cycle = cyclic.get(name);
  if (cycle !== undefined) {
    return errorAt(
      file,
      at,
      'parent-cycle',
      `jobs ${cycle} inherit from each other in a cycle; change one of the parents`,
    );
  }
  const { final, guarded, reviewed, isIntermediate } = restrictions(parents);
  if (isIntermediate && stanza.attributes.abstract !== true)
    return errorAt(file, at, 'intermediate-job', onlyAbstract(name, parent));
  if (final !== undefined) {
    const place = placeText(final.file, final.stanza.offset);
    const text = `job ${parent} is final (${place}), so job ${name} cannot inherit from it; choose another parent`;
    return errorAt(file, at, 'final-job', text);
  }
  if (guarded !== undefined && guarded.file.project !== file.project) {
    const owner = projectIdOf(guarded.file.project).name;
    const text = `job ${parent} is protected, only jobs of project ${owner} can inherit from it; choose another parent for ${name}`;
    return errorAt(file, at, 'protected-job', text);
  }
  if (reviewed !== undefined && stanza.attributes.postReview === false) {
    const place = placeText(reviewed.file, reviewed.stanza.offset);
    return errorAt(
      file,
      stanza.offsets.get('post-review') ?? at,
      'post-review-job',
      notUndone(name, `job ${parent} (${place})`),
    );
  }
  return undefined;
}

/** Nodeset, secrets, roles, required and allowed projects, of a definition or of a project's override. */
export function referenceError(
  stanza: JobStanza,
  file: LayoutFile,
  collected: Collected,
  { resolve, tenant }: CollectContext,
): ConfigError | undefined {
  const {
    nodeset,
    requiredProjects = [],
    allowedProjects = [],
    roles = [],
    includeVars = [],
  } = stanza.attributes;
  const files = includeVars.flatMap(({ of }) => (typeof of === 'object' ? [of] : []));
  const nodesetError =
    nodeset === undefined ? undefined : errorOfNodeset(stanza, nodeset, file, collected, tenant);
  if (nodesetError !== undefined) return nodesetError;
  for (const { name, offset } of [...requiredProjects, ...allowedProjects, ...roles, ...files]) {
    const resolved = resolve(name);
    if (resolved.kind === 'unknown') return errorAt(file, offset, resolved.code, resolved.text);
  }
  return secretError(stanza, file, collected);
}

function errorOfNodeset(
  { name, offset, offsets }: JobStanza,
  nodeset: NodesetReference,
  file: LayoutFile,
  collected: Collected,
  tenant: Tenant,
): ConfigError | undefined {
  const flat = flattenNodeset(nodeset, nodesetsIn(collected));
  if (flat.kind !== 'nodesets')
    return errorAt(file, flat.reference.offset, ...nodesetProblem(flat, `job ${name}`, collected));
  const tooMany = tooManyNodes(Math.max(0, ...flat.nodesets.map(({ nodes }) => nodes.length)), tenant);
  if (tooMany === undefined) return undefined;
  const at = offsets.get('nodeset') ?? offset;
  return errorAt(file, at, 'not-permitted', `nodeset of job ${name} cannot be used: ${tooMany}`);
}

/**
 * Dependencies on undefined jobs, of a definition or of a project's override. They break nothing: a hard dependency stops the
 * change that would wait for it, a soft one waits for nothing.
 */
export function unknownDependencies(
  { name, attributes }: JobStanza,
  file: LayoutFile,
  collected: Collected,
): readonly ConfigError[] {
  const { jobs } = collected;
  const unknown = (attributes.dependencies ?? []).filter(
    needed => needed.name !== NOOP_JOB && !jobs.has(needed.name),
  );
  return unknown.map(needed => {
    const hint = missingNameHint(needed.name, jobs.keys(), collected);
    const text = `job ${name} depends on job ${needed.name}, which is not defined${hint}`;
    return errorAt(file, needed.offset, 'job-not-defined', text);
  });
}

/** Jobs on a cycle of parents → the cycle as text. A job that names itself was refused before. */
function jobsInParentCycles(jobs: ReadonlyMap<string, readonly JobVariant[]>): ReadonlyMap<string, string> {
  // Most jobs come after their parents, and those are on no cycle.
  const straight = new Set<string>();
  const others: string[] = [];
  for (const [name, variants] of jobs) {
    const isStraight = variants.every(
      ({ parent }) => parent === null || straight.has(parent) || !jobs.has(parent),
    );
    if (isStraight) straight.add(name);
    else others.push(name);
  }
  const parents = (name: string) =>
    (jobs.get(name) ?? []).flatMap(({ parent }) => (parent === null || straight.has(parent) ? [] : parent));
  const cycles = stronglyConnected(others, parents).filter(({ length }) => length > 1);
  return new Map(
    cycles.flatMap(cycle => {
      const text = shortList(cycle.toSorted());
      return cycle.map((name): [string, string] => [name, text]);
    }),
  );
}
