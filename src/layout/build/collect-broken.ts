/** Stanzas with mistakes: reports their errors and keeps their places in the layout. */

import { append } from '../../lib/append.ts';
import { compileRegex } from '../../lib/regex.ts';
import type { ConfigError } from '../../model/config-error.ts';
import type { ProjectKey } from '../../model/project.ts';
import { errorAt, placeText } from '../model/config-place.ts';
import type { LayoutFile } from '../model/layout.ts';
import type { BrokenStanza, PipelineStanza } from '../stanzas/stanzas.ts';
import type { CollectContext, Collected } from './collected.ts';
import { brokenVariant } from './job-variant.ts';
import { projectsMatching } from './project-patterns.ts';

/** A broken stanza keeps its place, unless it would not have been allowed there. */
export function collectBroken(
  stanza: BrokenStanza,
  file: LayoutFile,
  into: Collected,
  context: CollectContext,
): void {
  const { name } = stanza;
  if (stanza.of === 'pipeline' && !file.trusted) {
    into.errors.push(untrustedPipeline(stanza, file));
    return;
  }
  const errors = stanza.problems.map(({ offset, code, text }) => errorAt(file, offset, code, text));
  into.errors.push(...errors);
  const [error] = errors;
  if (error === undefined) return;
  if (stanza.of === 'project') markBrokenProject(stanza, file, error, into, context);
  if (name === undefined) return;
  if (stanza.of === 'pipeline' && !into.pipelineNames.has(name)) {
    into.pipelineNames.set(name, { place: placeText(file, stanza.offset), file, supercedes: [] });
  }
  if (stanza.of === 'nodeset') into.brokenNodesets.add(name);
  if (stanza.of === 'secret') into.brokenSecrets.add(name);
  if (stanza.of === 'job') addToOwner(into.jobs, name, brokenVariant(stanza, name, file, error));
  if (stanza.of === 'project-template') {
    const template = {
      kind: stanza.of,
      offset: stanza.offset,
      name,
      queue: undefined,
      vars: {},
      pipelines: [],
    };
    addToOwner(into.templates, name, { file, stanza: template, scope: file.implied, broken: error });
  }
}

/** Only the project that defines a name first may add to it, so a project cannot break another project's jobs. */
function addToOwner<T extends { readonly file: LayoutFile }>(
  map: Map<string, T[]>,
  name: string,
  value: T,
): void {
  const first = map.get(name)?.[0];
  if (first === undefined || first.file.project === value.file.project) append(map, name, value);
}

function markBrokenProject(
  stanza: BrokenStanza,
  file: LayoutFile,
  error: ConfigError,
  into: Collected,
  context: CollectContext,
): void {
  for (const project of projectsOf(stanza, file, context)) {
    if (!context.mayConfigure(file, project)) continue;
    const isOwnBranch = !file.trusted && project === file.project;
    append(into.brokenProjects, project, { branch: isOwnBranch ? file.branch : undefined, error });
  }
}

/** Those that the stanza would configure. */
function projectsOf(
  { name }: BrokenStanza,
  file: LayoutFile,
  { resolve, tenant }: CollectContext,
): readonly ProjectKey[] {
  if (name === undefined) return [file.project];
  const pattern = name.startsWith('^') ? compileRegex(name) : undefined;
  if (pattern?.kind === 'regex') return projectsMatching(pattern, tenant);
  const named = resolve(name);
  return named.kind === 'unknown' ? [] : [named.project];
}

/** The error of a pipeline stanza, whole or broken, in an untrusted project; it gets no place in the layout. */
export function untrustedPipeline({ offset }: PipelineStanza | BrokenStanza, file: LayoutFile): ConfigError {
  return errorAt(
    file,
    offset,
    'not-permitted',
    'pipelines may be defined in config-projects only; remove it here',
  );
}
