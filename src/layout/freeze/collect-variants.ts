/**
 * The variants that make up a job for one change: those whose branches match, each after those of its parents.
 *
 * Zuul's rules: an explicit `branches` decides; without one, `branch-scope.ts` does, as a rule for the branch of the job's own file; a variant needs at least one matching variant of its parent. The default parent is that of the first variant
 * only: what applies after another one has its parents already. An `override-checkout` of the project that defines a job chooses among
 * the job's variants, as if the change were for that branch.
 */
import type { ConfigError } from '../../model/config-error.ts';
import type { BranchName, JobName, ProjectKey } from '../../model/project.ts';
import { isInScope, scopeText } from '../model/branch-scope.ts';
import { errorAt } from '../model/config-place.ts';
import type { FreezeChange } from '../model/freeze-request.ts';
import type { JobVariant, Layout, LayoutFile } from '../model/layout.ts';
import type { JobStanza } from '../stanzas/stanzas.ts';

/** `none`: the job does not run for this change. `because` is a clause for its verdict; empty: no branch limits the job. */
export type CollectedVariants =
  /** In the order in which they apply, the base job first. */
  | { readonly kind: 'variants'; readonly variants: readonly JobVariant[]; readonly because: string }
  | { readonly kind: 'none'; readonly because: string }
  | { readonly kind: 'error'; readonly error: ConfigError };

/** Deeper inheritance is a mistake, and the collection is recursive. */
const MAX_GENERATIONS = 100;

/** Each is applied in every freeze. */
const MAX_VARIANTS = 1000;

/**
 * An error is that of the first broken variant among those that apply, or a bound: 100 generations of parents, 1000 variants.
 *
 * @param listings overrides of the job that apply to the change.
 */
export function collectVariants(
  layout: Layout,
  name: JobName,
  change: FreezeChange,
  listings: readonly JobStanza[],
): CollectedVariants {
  const found = new Set<JobVariant>();
  const overrides = listings.reduce((known, listing) => withOverrides(known, listing, layout), NO_OVERRIDES);
  const result = collect({ layout, change, found, done: new Map() }, name, { generation: 1, overrides });
  const [first] = found;
  if (found.size > MAX_VARIANTS && first !== undefined) {
    const text = `job ${name} is made of more than ${MAX_VARIANTS} variants; remove some`;
    return { kind: 'error', error: errorAt(first.file, first.stanza.offset, 'too-many-variants', text) };
  }
  return result.kind === 'variants' ? { ...result, variants: [...found] } : result;
}

interface Collection {
  readonly layout: Layout;
  readonly change: FreezeChange;
  /** In the order in which they apply. */
  readonly found: Set<JobVariant>;
  /** Each job is collected once, however many variants inherit from it. */
  readonly done: Map<JobName, CollectedVariants>;
}

/** Where a job stands on the way from the listed one to its oldest parent. */
interface Ascent {
  /** 1 for the listed job. */
  readonly generation: number;
  /** What those before it check out. */
  readonly overrides: Overrides;
}

/** `override-checkout` by the project it is for. */
interface Overrides {
  /** Of a job: for every project without its own. */
  readonly any: string | undefined;
  readonly projects: ReadonlyMap<ProjectKey, string>;
}

const NO_OVERRIDES: Overrides = { any: undefined, projects: new Map() };

function withOverrides(before: Overrides, { attributes }: JobStanza, layout: Layout): Overrides {
  const { overrideCheckout, requiredProjects = [] } = attributes;
  const projects = requiredProjects.flatMap((required): readonly [ProjectKey, string][] => {
    const resolved = layout.resolveProject(required.name);
    if (resolved.kind === 'unknown' || required.overrideCheckout === undefined) return [];
    return [[resolved.project, required.overrideCheckout]];
  });
  if (overrideCheckout === undefined && projects.length === 0) return before;
  return { any: overrideCheckout ?? before.any, projects: new Map([...before.projects, ...projects]) };
}

/** The change as it looks to jobs of the project: for the branch that is checked out instead, where the project has it. */
function changeFor(
  project: ProjectKey,
  { any, projects }: Overrides,
  { layout, change }: Collection,
): FreezeChange {
  const checkout: BranchName | undefined = projects.get(project) ?? any;
  if (checkout === undefined || layout.branches.get(project)?.has(checkout) !== true) return change;
  return { project: change.project, branch: checkout, files: change.files };
}

function collect(collection: Collection, name: JobName, ascent: Ascent): CollectedVariants {
  const known = collection.done.get(name);
  if (known !== undefined) return known;
  const result = collectOnce(collection, name, ascent);
  collection.done.set(name, result);
  return result;
}

function collectOnce(
  collection: Collection,
  name: JobName,
  { generation, overrides }: Ascent,
): CollectedVariants {
  const { layout, found } = collection;
  const variants = layout.jobs.get(name) ?? [];
  const [first] = variants;
  const change =
    first === undefined ? collection.change : changeFor(first.file.project, overrides, collection);
  const matching = variants.filter(variant => branchMatches(variant.stanza, variant.file, change));
  if (matching.length === 0) return { kind: 'none', because: noBranchText(name, variants, change) };
  let above = overrides;
  let orphan = '';
  let inherited = '';
  let matched = false;
  for (const variant of matching) {
    if (variant.broken !== undefined) return { kind: 'error', error: variant.broken };
    above = withOverrides(above, variant.stanza, layout);
    const parent = parentIn(collection, variant);
    if (parent !== null) {
      if (generation > MAX_GENERATIONS) return { kind: 'error', error: tooManyGenerations(variant) };
      const parents = collect(collection, parent, { generation: generation + 1, overrides: above });
      if (parents.kind === 'error') return parents;
      if (parents.kind === 'none') {
        orphan = parents.because;
        continue;
      }
      inherited = parents.because;
    }
    found.add(variant);
    matched = true;
  }
  if (!matched) return { kind: 'none', because: orphan };
  return { kind: 'variants', variants: [], because: branchText(matching, change) || inherited };
}

/** The default parent is for a job that has nothing yet. */
function parentIn({ found }: Collection, { parent, stanza }: JobVariant): JobName | null {
  return stanza.parent === undefined && found.size > 0 ? null : parent;
}

/** Whether a variant, or a project's override, applies to the change's branch. */
export function branchMatches(
  { branches }: JobStanza,
  { implied }: LayoutFile,
  change: FreezeChange,
): boolean {
  return isInScope(branches === undefined ? implied : { kind: 'matchers', matchers: branches }, change);
}

/** What the change is for, in verdicts: `branch master`, `ref refs/tags/1.0`. */
export function changedRefText({ branch, ref }: FreezeChange): string {
  return branch === null ? `ref ${ref ?? 'without a branch'}` : `branch ${branch}`;
}

function noBranchText(name: JobName, variants: readonly JobVariant[], change: FreezeChange): string {
  const wanted = new Set(
    variants.map(({ branches, file }) =>
      scopeText(branches === undefined ? file.implied : { kind: 'matchers', matchers: branches }),
    ),
  );
  return `no variant of job ${name} matches ${changedRefText(change)} (${[...wanted].join('; ')})`;
}

function branchText(variants: readonly JobVariant[], change: FreezeChange): string {
  const bound = variants.some(({ branches, file }) => branches !== undefined || file.implied !== undefined);
  return bound ? `${changedRefText(change)} matches` : '';
}

function tooManyGenerations({ name, file, stanza }: JobVariant): ConfigError {
  const text = `job ${name} inherits through more than ${MAX_GENERATIONS} generations of parents; shorten the chain`;
  return errorAt(file, stanza.offset, 'too-deep', text);
}
