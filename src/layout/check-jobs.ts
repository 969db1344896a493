/** Second pass: what jobs refer to. A variant with a bad reference is broken; the others of its name are not. */
import { didYouMean } from '../lib/nearest-name.ts';
import { stronglyConnected } from '../lib/tarjan.ts';
import type { ConfigError } from '../model/config-error.ts';
import { projectIdOf } from '../model/project.ts';
import type { Collected } from './collected.ts';
import { errorAt, placeText } from './config-place.ts';
import type { JobItem } from './items.ts';
import { DEFAULT_PARENT } from './job-variant.ts';
import type { JobVariant, LayoutFile } from './layout.ts';
import type { ProjectResolver } from './resolve-project.ts';

export function checkJobs(collected: Collected, resolve: ProjectResolver): void {
  const cyclic = jobsInParentCycles(collected.jobs);
  for (const [name, variants] of collected.jobs) {
    const checked = variants.map(variant => {
      if (variant.broken !== undefined) return variant;
      const broken =
        parentReferenceError(variant, collected, cyclic) ??
        referenceError(variant.item, variant.file, collected, resolve);
      if (broken === undefined) return variant;
      collected.errors.push(broken);
      return { ...variant, broken };
    });
    collected.jobs.set(name, checked);
  }
}

function parentReferenceError(
  { name, parent, item, file }: JobVariant,
  { jobs }: Collected,
  cyclic: ReadonlyMap<string, string>,
): ConfigError | undefined {
  if (parent === null) return undefined;
  const at = item.offsets.get('parent') ?? item.offset;
  const parents = jobs.get(parent);
  if (parents === undefined) {
    const implied =
      item.parent === undefined ? `; job ${name} names no parent, so it inherits from ${DEFAULT_PARENT}` : '';
    const text = `Job ${parent} not defined${didYouMean(parent, jobs.keys())}${implied}`;
    return errorAt(file, at, 'job-not-defined', text);
  }
  const cycle = cyclic.get(name);
  if (cycle !== undefined) {
    return errorAt(
      file,
      at,
      'parent-cycle',
      `jobs ${cycle} inherit from each other in a circle; change one of the parents`,
    );
  }
  const final = parents.find(variant => variant.item.attributes.final === true);
  if (final !== undefined) {
    const place = placeText(final.file, final.item.offset);
    const text = `job ${parent} is final (${place}), so job ${name} cannot inherit from it; choose another parent`;
    return errorAt(file, at, 'final-job', text);
  }
  const guarded = parents.find(
    variant => variant.item.attributes.protected === true && variant.file.project !== file.project,
  );
  if (guarded !== undefined) {
    const owner = projectIdOf(guarded.file.project).name;
    const text = `job ${parent} is protected, only jobs of project ${owner} can inherit from it; choose another parent for ${name}`;
    return errorAt(file, at, 'protected-job', text);
  }
  return undefined;
}

/** Nodeset and required projects, of a definition or of a project's override. */
export function referenceError(
  item: JobItem,
  file: LayoutFile,
  { nodesets, brokenNodesets }: Collected,
  resolve: ProjectResolver,
): ConfigError | undefined {
  const { nodeset, requiredProjects } = item.attributes;
  if (nodeset?.kind === 'named' && !nodesets.has(nodeset.name)) {
    const broken = brokenNodesets.has(nodeset.name);
    const hint = broken
      ? ' because of the error in its definition'
      : didYouMean(nodeset.name, nodesets.keys());
    return errorAt(
      file,
      nodeset.offset,
      'unknown-nodeset',
      `nodeset ${nodeset.name} of job ${item.name} is not defined${hint}`,
    );
  }
  for (const required of requiredProjects ?? []) {
    const resolved = resolve(required.name);
    if (resolved.kind === 'unknown') return errorAt(file, required.offset, resolved.code, resolved.text);
  }
  return undefined;
}

/** Jobs on a circle of parents → the circle as text. A job that names itself was refused before. */
function jobsInParentCycles(jobs: ReadonlyMap<string, readonly JobVariant[]>): ReadonlyMap<string, string> {
  const parents = (name: string) => (jobs.get(name) ?? []).flatMap(({ parent }) => parent ?? []);
  const circles = stronglyConnected(jobs.keys(), parents).filter(({ length }) => length > 1);
  return new Map(
    circles.flatMap(circle => {
      const names = circle.toSorted();
      return names.map((name): [string, string] => [name, names.join(', ')]);
    }),
  );
}
