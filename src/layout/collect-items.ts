/**
 * First pass over a tenant's configuration: every item of every file goes to its place in the layout, or becomes an error.
 *
 * Rules checked here need one item and what came before it: who may define what, what may be there twice, which project
 * is meant. References to other items are checked when all are known (`check-jobs.ts`, `check-projects.ts`).
 */
import { assertNever } from '../lib/assert-never.ts';
import type { ConfigError } from '../model/config-error.ts';
import type { Tenant } from '../model/layout.ts';
import type { Pipeline } from '../model/pipeline.ts';
import { type BranchName, type ProjectKey, projectIdOf } from '../model/project.ts';
import { buildPipeline, type Languages } from './build-pipeline.ts';
import { errorAt, placeText } from './config-place.ts';
import type {
  BrokenItem,
  JobItem,
  NodesetItem,
  ParsedItem,
  PipelineItem,
  ProjectItem,
  QueueItemConfig,
  TemplateItem,
} from './items.ts';
import { brokenVariant, jobVariant } from './job-variant.ts';
import type { BrokenStanza, JobVariant, LayoutFile, ProjectStanza } from './layout.ts';
import type { ProjectResolver } from './resolve-project.ts';

/** What a layout is made from while it is made. */
export interface Collected {
  readonly pipelines: Map<string, Pipeline>;
  /** Also the broken ones, which other items may name without being wrong. */
  readonly pipelineNames: Map<string, { readonly place: string }>;
  readonly jobs: Map<string, JobVariant[]>;
  readonly nodesets: Map<string, { readonly item: NodesetItem; readonly file: LayoutFile }>;
  readonly queues: Map<string, { readonly item: QueueItemConfig; readonly file: LayoutFile }>;
  readonly templates: Map<string, ProjectStanza[]>;
  readonly stanzas: Map<ProjectKey, ProjectStanza[]>;
  readonly brokenStanzas: Map<ProjectKey, BrokenStanza[]>;
  /** For the error of a job that names one. */
  readonly brokenNodesets: Set<string>;
  readonly errors: ConfigError[];
}

export interface CollectContext {
  readonly tenant: Tenant;
  readonly languages: Languages;
  readonly resolve: ProjectResolver;
}

export function emptyCollection(): Collected {
  return {
    pipelines: new Map(),
    pipelineNames: new Map(),
    jobs: new Map(),
    nodesets: new Map(),
    queues: new Map(),
    templates: new Map(),
    stanzas: new Map(),
    brokenStanzas: new Map(),
    brokenNodesets: new Set(),
    errors: [],
  };
}

/** @param kinds kinds of items loaded from this project; undefined: all. */
export function collectFile(
  file: LayoutFile,
  kinds: ReadonlySet<string> | undefined,
  into: Collected,
  context: CollectContext,
): void {
  for (const { offset, code, text } of file.parsed.problems)
    into.errors.push(errorAt(file, offset, code, text));
  for (const item of file.parsed.items) {
    const kind = item.kind === 'broken' ? item.of : item.kind;
    if (kinds === undefined || kind === 'unknown' || kinds.has(kind)) collectItem(item, file, into, context);
  }
}

function collectItem(item: ParsedItem, file: LayoutFile, into: Collected, context: CollectContext): void {
  switch (item.kind) {
    case 'pipeline':
      collectPipeline(item, file, into, context);
      break;
    case 'job':
      collectJob(item, file, into, context);
      break;
    case 'project':
      collectProject(item, file, into, context);
      break;
    case 'project-template':
      collectTemplate(item, file, into);
      break;
    case 'queue':
      collectUnique('queue', into.queues, item, file, into, (a, b) => a.perBranch === b.perBranch);
      break;
    case 'nodeset':
      collectUnique('nodeset', into.nodesets, item, file, into, (a, b) => nodesText(a) === nodesText(b));
      break;
    case 'broken':
      collectBroken(item, file, into, context);
      break;
    default:
      assertNever(item);
  }
}

function collectPipeline(
  item: PipelineItem,
  file: LayoutFile,
  into: Collected,
  context: CollectContext,
): void {
  if (!file.trusted) {
    into.errors.push(untrustedPipeline(item, file));
    return;
  }
  const first = into.pipelineNames.get(item.name);
  if (first !== undefined) {
    const text = `pipeline ${item.name} is defined already at ${first.place}; rename or remove one`;
    into.errors.push(errorAt(file, item.offset, 'duplicate-definition', text));
    return;
  }
  into.pipelineNames.set(item.name, { place: placeText(file, item.offset) });
  const built = buildPipeline(item, file, context.languages);
  if (built.kind === 'pipeline') into.pipelines.set(item.name, built.pipeline);
  else into.errors.push(...built.errors);
}

function untrustedPipeline({ offset }: PipelineItem | BrokenItem, file: LayoutFile): ConfigError {
  return errorAt(file, offset, 'not-permitted', 'pipelines may be defined in config-projects only; remove it here');
}

function collectJob(item: JobItem, file: LayoutFile, into: Collected, { tenant }: CollectContext): void {
  const variants = into.jobs.get(item.name) ?? [];
  const [first] = variants;
  if (first !== undefined && first.file.project !== file.project) {
    const owner = `${projectIdOf(first.file.project).name} (${placeText(first.file, first.item.offset)})`;
    const text = `job ${item.name} belongs to project ${owner}; a job is defined in one project, choose another name`;
    into.errors.push(errorAt(file, item.offset, 'duplicate-definition', text));
    return;
  }
  const variant = jobVariant(item, file, tenant);
  if (variant.broken !== undefined) into.errors.push(variant.broken);
  into.jobs.set(item.name, [...variants, variant]);
}

function collectProject(
  item: ProjectItem,
  file: LayoutFile,
  into: Collected,
  { resolve }: CollectContext,
): void {
  const named = item.name === undefined ? undefined : resolve(item.name);
  if (named?.kind === 'unknown') {
    into.errors.push(errorAt(file, item.nameOffset, named.code, named.text));
    return;
  }
  const project = named?.project ?? file.project;
  if (!file.trusted && project !== file.project) {
    const own = projectIdOf(file.project).name;
    const text = `project ${item.name} may be configured in its own repository or in a config-project, not in ${own}; leave "name" out to configure ${own}`;
    into.errors.push(errorAt(file, item.nameOffset, 'not-permitted', text));
    return;
  }
  const stanzas = into.stanzas.get(project) ?? [];
  const branch = file.trusted ? undefined : file.branch;
  into.stanzas.set(project, [...stanzas, { file, item, branch, broken: undefined }]);
}

function collectTemplate(item: TemplateItem, file: LayoutFile, into: Collected): void {
  const templates = into.templates.get(item.name) ?? [];
  const [first] = templates;
  if (first !== undefined && first.file.project !== file.project) {
    const text = `project-template ${item.name} is defined already at ${placeText(first.file, first.item.offset)}; choose another name`;
    into.errors.push(errorAt(file, item.offset, 'duplicate-definition', text));
    return;
  }
  into.templates.set(item.name, [
    ...templates,
    { file, item, branch: file.impliedBranch, broken: undefined },
  ]);
}

/** Queues and nodesets: once per tenant, but the same in several branches of one project is fine. */
function collectUnique<T extends { readonly name: string; readonly offset: number }>(
  kind: string,
  map: Map<string, { readonly item: T; readonly file: LayoutFile }>,
  item: T,
  file: LayoutFile,
  into: Collected,
  same: (a: T, b: T) => boolean,
): void {
  const first = map.get(item.name);
  if (first === undefined) {
    map.set(item.name, { item, file });
    return;
  }
  const otherBranch = first.file.project === file.project && first.file.branch !== file.branch;
  if (otherBranch && same(first.item, item)) return;
  const text = `${kind} ${item.name} is defined already${otherBranch ? ' and differently' : ''} at ${placeText(first.file, first.item.offset)}; rename, remove or align one`;
  into.errors.push(errorAt(file, item.offset, 'duplicate-definition', text));
}

function nodesText(item: NodesetItem): string {
  return JSON.stringify(item.nodes);
}

/** What is broken stays where it would have counted, unless it would not have been allowed there. */
function collectBroken(item: BrokenItem, file: LayoutFile, into: Collected, context: CollectContext): void {
  const { name } = item;
  if (item.of === 'pipeline' && !file.trusted) {
    into.errors.push(untrustedPipeline(item, file));
    return;
  }
  const errors = item.problems.map(({ offset, code, text }) => errorAt(file, offset, code, text));
  into.errors.push(...errors);
  const [error] = errors;
  if (error === undefined) return;
  if (item.of === 'project') markBrokenStanza(item, file, error, into, context);
  if (name === undefined) return;
  if (item.of === 'pipeline' && !into.pipelineNames.has(name)) {
    into.pipelineNames.set(name, { place: placeText(file, item.offset) });
  }
  if (item.of === 'nodeset') into.brokenNodesets.add(name);
  if (item.of === 'job') addToOwner(into.jobs, name, brokenVariant(item, name, file, error));
  if (item.of === 'project-template') {
    const template = { kind: item.of, offset: item.offset, name, queue: undefined, vars: {}, pipelines: [] };
    addToOwner(into.templates, name, { file, item: template, branch: file.impliedBranch, broken: error });
  }
}

/** Only the project that defines a name first may add to it: nobody can break another project's jobs. */
function addToOwner<T extends { readonly file: LayoutFile }>(
  map: Map<string, T[]>,
  name: string,
  value: T,
): void {
  const values = map.get(name) ?? [];
  const [first] = values;
  if (first === undefined || first.file.project === value.file.project) map.set(name, [...values, value]);
}

function markBrokenStanza(
  item: BrokenItem,
  file: LayoutFile,
  error: ConfigError,
  into: Collected,
  { resolve }: CollectContext,
): void {
  const named = item.name === undefined ? undefined : resolve(item.name);
  if (named?.kind === 'unknown') return;
  const project = named?.project ?? file.project;
  if (!file.trusted && project !== file.project) return;
  const branch: BranchName | undefined = file.trusted ? undefined : file.branch;
  into.brokenStanzas.set(project, [...(into.brokenStanzas.get(project) ?? []), { branch, error }]);
}
