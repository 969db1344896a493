/**
 * First pass over a tenant's configuration: every stanza of every file goes to its place in the layout, or becomes an error.
 *
 * Rules checked here need one stanza and those before it: which project may define what, what may be repeated, which project
 * a stanza configures. References to other stanzas are checked when all are known (`check-jobs.ts`, `check-projects.ts`).
 */

import { append } from '../../lib/append.ts';
import { assertNever } from '../../lib/assert-never.ts';
import type { ConfigError } from '../../model/config-error.ts';
import type { Tenant } from '../../model/layout.ts';
import { type ProjectKey, projectIdOf } from '../../model/project.ts';
import { labelsOf, nodesetText } from '../freeze/flatten-nodeset.ts';
import { unknownScopeError } from '../model/branch-scope.ts';
import { errorAt, placeText } from '../model/config-place.ts';
import type { LayoutFile } from '../model/layout.ts';
import { projectScope } from '../model/may-configure.ts';
import {
  isUnreadableFile,
  type JobStanza,
  type NodesetStanza,
  type ParsedStanza,
  type PipelineStanza,
  type ProjectStanza,
  type ProviderStanza,
  type QueueStanza,
  type SecretStanza,
  type SemaphoreStanza,
  type TemplateStanza,
} from '../stanzas/stanzas.ts';
import { buildPipeline } from './build-pipeline.ts';
import { collectBroken, untrustedPipeline } from './collect-broken.ts';
import type { CollectContext, Collected } from './collected.ts';
import { attributeWarnings, jobVariant } from './job-variant.ts';
import { collectPattern } from './project-patterns.ts';

/** @param kinds kinds of stanzas loaded from this project; undefined: all. */
export function collectFile(
  file: LayoutFile,
  kinds: ReadonlySet<string> | undefined,
  into: Collected,
  context: CollectContext,
): void {
  if (isUnreadableFile(file.parsed)) into.unreadable.push(file);
  for (const { offset, code, text, severity } of file.parsed.problems) {
    const error = errorAt(file, offset, code, text, severity);
    into.errors.push(error);
    // The unreadable part may have held the project's own stanza: better no jobs than too few.
    const branch = file.trusted ? undefined : file.branch;
    if (error.severity === 'error') append(into.brokenProjects, file.project, { branch, error });
  }
  for (const stanza of file.parsed.stanzas) {
    const kind = stanza.kind === 'broken' ? stanza.of : stanza.kind;
    if (kinds === undefined || kind === 'unknown' || kinds.has(kind))
      collectStanza(stanza, file, into, context);
  }
}

function collectStanza(
  stanza: ParsedStanza,
  file: LayoutFile,
  into: Collected,
  context: CollectContext,
): void {
  switch (stanza.kind) {
    case 'pipeline':
      collectPipeline(stanza, file, into, context);
      break;
    case 'job':
      collectJob(stanza, file, into, context);
      break;
    case 'project':
      collectProject(stanza, file, into, context);
      break;
    case 'project-template':
      collectTemplate(stanza, file, into);
      break;
    case 'queue':
      collectUnique('queue', into.queues, stanza, file, into, isSameQueue);
      break;
    case 'nodeset':
      collectNodeset(stanza, file, into, context);
      break;
    case 'secret':
      collectUnique('secret', into.secrets, stanza, file, into, isSameSecret);
      break;
    case 'semaphore':
      collectSemaphore(stanza, file, into, context);
      break;
    case 'pragma':
      // It counts for its file: `branch-scope.ts`.
      break;
    case 'image':
    case 'flavor':
    case 'label':
    case 'section':
    case 'provider':
      into.errors.push(providerWarning(stanza, file));
      break;
    case 'broken':
      collectBroken(stanza, file, into, context);
      break;
    default:
      assertNever(stanza);
  }
}

function providerWarning({ kind, name, offset }: ProviderStanza, file: LayoutFile): ConfigError {
  const text = `${kind} ${name ?? 'without a name'} has no effect: nothing here starts nodes, executors offer labels`;
  return errorAt(file, offset, 'no-effect', text, 'warning');
}

function collectPipeline(
  stanza: PipelineStanza,
  file: LayoutFile,
  into: Collected,
  context: CollectContext,
): void {
  if (!file.trusted) {
    into.errors.push(untrustedPipeline(stanza, file));
    return;
  }
  const first = into.pipelineNames.get(stanza.name);
  if (first !== undefined) {
    const text = `pipeline ${stanza.name} is already defined at ${first.place}; rename or remove one`;
    into.errors.push(errorAt(file, stanza.offset, 'duplicate-definition', text));
    return;
  }
  into.pipelineNames.set(stanza.name, {
    place: placeText(file, stanza.offset),
    file,
    supercedes: stanza.supercedes,
  });
  const built = buildPipeline(stanza, file, context);
  if (built.kind === 'pipeline') into.pipelines.set(stanza.name, built.pipeline);
  into.errors.push(...(built.kind === 'pipeline' ? built.warnings : built.errors));
}

function collectJob(stanza: JobStanza, file: LayoutFile, into: Collected, context: CollectContext): void {
  const variants = into.jobs.get(stanza.name) ?? [];
  const [first] = variants;
  if (first !== undefined && first.file.project !== file.project) {
    if (isShadowed(file.project, first.file.project, context.tenant)) return;
    const owner = `${projectIdOf(first.file.project).name} (${placeText(first.file, first.stanza.offset)})`;
    const text = `job ${stanza.name} belongs to project ${owner}; a job is defined in one project, choose another name`;
    into.errors.push(errorAt(file, stanza.offset, 'duplicate-definition', text));
    return;
  }
  const variant = jobVariant(stanza, file, context);
  // The mistake of a pragma is reported once, as that.
  const known = unknownScopeError(file.implied);
  if (variant.broken !== undefined && variant.broken !== known) into.errors.push(variant.broken);
  into.errors.push(...attributeWarnings(stanza, file, context));
  append(into.jobs, stanza.name, variant);
}

/** The project leaves the jobs that the owner has to the owner. */
function isShadowed(project: ProjectKey, owner: ProjectKey, { projects }: Tenant): boolean {
  return projects.find(each => each.project === project)?.shadows?.includes(owner) === true;
}

function collectProject(
  stanza: ProjectStanza,
  file: LayoutFile,
  into: Collected,
  context: CollectContext,
): void {
  if (stanza.pattern !== undefined) {
    collectPattern(stanza.pattern, stanza, file, into, context);
    return;
  }
  const named = stanza.name === undefined ? undefined : context.resolve(stanza.name);
  if (named?.kind === 'unknown') {
    into.errors.push(errorAt(file, stanza.nameOffset, named.code, named.text));
    return;
  }
  const project = named?.project ?? file.project;
  if (!context.mayConfigure(file, project)) {
    const own = projectIdOf(file.project).name;
    const text = `project ${stanza.name} may be configured in its own repository or in a config-project, not in ${own}; leave "name" out to configure ${own}`;
    into.errors.push(errorAt(file, stanza.nameOffset, 'not-permitted', text));
    return;
  }
  const scope = projectScope(stanza, file, project === file.project);
  append(into.projects, project, { file, stanza, scope, broken: unknownScopeError(scope) });
}

function collectTemplate(stanza: TemplateStanza, file: LayoutFile, into: Collected): void {
  const templates = into.templates.get(stanza.name) ?? [];
  const [first] = templates;
  if (first !== undefined && first.file.project !== file.project) {
    const text = `project-template ${stanza.name} is already defined at ${placeText(first.file, first.stanza.offset)}; choose another name`;
    into.errors.push(errorAt(file, stanza.offset, 'duplicate-definition', text));
    return;
  }
  const scope = file.implied;
  append(into.templates, stanza.name, { file, stanza, scope, broken: unknownScopeError(scope) });
}

/** Queues, nodesets, secrets and semaphores are unique in a tenant; the same definition in several branches of one project is allowed. */
function collectUnique<T extends { readonly name: string; readonly offset: number }>(
  kind: string,
  map: Map<string, { readonly stanza: T; readonly file: LayoutFile }>,
  stanza: T,
  file: LayoutFile,
  into: Collected,
  same: (a: T, b: T) => boolean,
): void {
  const first = map.get(stanza.name);
  if (first === undefined) {
    map.set(stanza.name, { stanza, file });
    return;
  }
  const otherBranch = first.file.project === file.project && first.file.branch !== file.branch;
  if (otherBranch && same(first.stanza, stanza)) return;
  const text = `${kind} ${stanza.name} is already defined${otherBranch ? ' and differently' : ''} at ${placeText(first.file, first.stanza.offset)}; rename, remove or align one`;
  into.errors.push(errorAt(file, stanza.offset, 'duplicate-definition', text));
}

function collectNodeset(
  stanza: NodesetStanza,
  file: LayoutFile,
  into: Collected,
  { labels }: CollectContext,
): void {
  const forbidden = labels(labelsOf(stanza));
  if (forbidden === undefined) {
    collectUnique('nodeset', into.nodesets, stanza, file, into, isSameNodeset);
    return;
  }
  into.brokenNodesets.add(stanza.name);
  const text = `nodeset ${stanza.name} cannot be used: ${forbidden}`;
  into.errors.push(errorAt(file, stanza.offset, 'not-permitted', text));
}

function isSameSecret(a: SecretStanza, b: SecretStanza): boolean {
  return JSON.stringify(a.data) === JSON.stringify(b.data);
}

function collectSemaphore(
  stanza: SemaphoreStanza,
  file: LayoutFile,
  into: Collected,
  { tenant }: CollectContext,
): void {
  if (tenant.globalSemaphores?.[stanza.name] === undefined) {
    collectUnique('semaphore', into.semaphores, stanza, file, into, (a, b) => a.max === b.max);
    return;
  }
  const text = `semaphore ${stanza.name} is ignored: tenant ${tenant.name} has a global semaphore of that name; rename or remove it`;
  into.errors.push(errorAt(file, stanza.offset, 'shadowed-semaphore', text));
}

function isSameNodeset(a: NodesetStanza, b: NodesetStanza): boolean {
  return nodesetText(a) === nodesetText(b);
}

function isSameQueue(a: QueueStanza, b: QueueStanza): boolean {
  return a.perBranch === b.perBranch && a.allowsCycles === b.allowsCycles && a.byTopic === b.byTopic;
}
