/** Items with mistakes: their errors, and what keeps the place of what they would have been. */
import type { ConfigError } from '../model/config-error.ts';
import { append, type CollectContext, type Collected } from './collected.ts';
import { errorAt, placeText } from './config-place.ts';
import type { BrokenItem, PipelineItem } from './items.ts';
import { brokenVariant } from './job-variant.ts';
import type { LayoutFile } from './layout.ts';

/** What is broken stays where it would have counted, unless it would not have been allowed there. */
export function collectBroken(
  item: BrokenItem,
  file: LayoutFile,
  into: Collected,
  context: CollectContext,
): void {
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
  const first = map.get(name)?.[0];
  if (first === undefined || first.file.project === value.file.project) append(map, name, value);
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
  const branch: string | undefined = file.trusted ? undefined : file.branch;
  append(into.brokenStanzas, project, { branch, error });
}

export function untrustedPipeline({ offset }: PipelineItem | BrokenItem, file: LayoutFile): ConfigError {
  return errorAt(
    file,
    offset,
    'not-permitted',
    'pipelines may be defined in config-projects only; remove it here',
  );
}
