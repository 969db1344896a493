/**
 * First pass over a tenant's configuration: every item of every file goes to its place in the layout, or becomes an error.
 *
 * Rules checked here need one item and what came before it: who may define what, what may be there twice, which project
 * is meant. References to other items are checked when all are known (`check-jobs.ts`, `check-projects.ts`).
 */
import { assertNever } from '../lib/assert-never.ts';
import { projectIdOf } from '../model/project.ts';
import { buildPipeline } from './build-pipeline.ts';
import { collectBroken, untrustedPipeline } from './collect-broken.ts';
import { append, type CollectContext, type Collected } from './collected.ts';
import { errorAt, placeText } from './config-place.ts';
import type { JobItem, NodesetItem, ParsedItem, PipelineItem, ProjectItem, TemplateItem } from './items.ts';
import { jobVariant } from './job-variant.ts';
import type { LayoutFile } from './layout.ts';

/** @param kinds kinds of items loaded from this project; undefined: all. */
export function collectFile(
  file: LayoutFile,
  kinds: ReadonlySet<string> | undefined,
  into: Collected,
  context: CollectContext,
): void {
  for (const { offset, code, text, severity } of file.parsed.problems) {
    const error = errorAt(file, offset, code, text, severity);
    into.errors.push(error);
    // Its own project's stanza may have been in what could not be read: better no jobs than too few.
    const branch = file.trusted ? undefined : file.branch;
    if (error.severity === 'error') append(into.brokenStanzas, file.project, { branch, error });
  }
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
  append(into.jobs, item.name, variant);
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
  const branch = file.trusted ? undefined : file.branch;
  append(into.stanzas, project, { file, item, branch, broken: undefined });
}

function collectTemplate(item: TemplateItem, file: LayoutFile, into: Collected): void {
  const templates = into.templates.get(item.name) ?? [];
  const [first] = templates;
  if (first !== undefined && first.file.project !== file.project) {
    const text = `project-template ${item.name} is defined already at ${placeText(first.file, first.item.offset)}; choose another name`;
    into.errors.push(errorAt(file, item.offset, 'duplicate-definition', text));
    return;
  }
  append(into.templates, item.name, { file, item, branch: file.impliedBranch, broken: undefined });
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
