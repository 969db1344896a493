/** Attributes of the changes or the project of a span: ours, and OpenTelemetry's for version control. */
import {
  type Change,
  type ChangeKey,
  changeKeyText,
  changeText,
  commitOf,
  targetBranchOf,
} from '../../model/change.ts';
import { type ProjectKey, projectIdOf } from '../../model/project.ts';
import type { AttributeInput } from '../attribute-values.ts';
import type { SpanOptions } from './span-options.ts';

/** Known facts of the repositories. */
type Repositories = Pick<SpanOptions, 'providers' | 'repositoryUrl'>;

/** @param changes several for a cycle: each attribute is then a list. */
export function changeAttributes(
  changes: readonly [Change, ...Change[]],
  options: Repositories,
): AttributeInput {
  const each = (pick: (change: Change) => string | null | undefined) => oneOrList(changes.map(pick));
  return {
    change: each(changeText),
    project: each(change => change.project),
    vcsRepository: each(change => projectIdOf(change.project).name),
    vcsRepositoryUrl: each(change => options.repositoryUrl?.(change.project)),
    vcsProvider: each(change => options.providers?.get(projectIdOf(change.project).connection)),
    vcsChange: each(change => (change.kind === 'change' ? change.id : undefined)),
    vcsHeadName: each(change => change.ref),
    vcsHeadRevision: each(commitOf),
    vcsHeadType: each(change => (change.ref.startsWith('refs/tags/') ? 'tag' : 'branch')),
    vcsBaseName: each(targetBranchOf),
  };
}

/**
 * For the root span of an event.
 *
 * @param change only the key: the change is no longer cached; null: the event is about the project as a whole.
 * @param project null: not known apart from the change.
 */
export function aboutAttributes(
  change: Change | ChangeKey | null,
  project: ProjectKey | null,
  options: Repositories,
): AttributeInput {
  if (change !== null && typeof change !== 'string') return changeAttributes([change], options);
  const shown = change === null ? null : changeKeyText(change);
  if (project === null) return { change: shown };
  const { name, connection } = projectIdOf(project);
  return {
    change: shown,
    project,
    vcsRepository: name,
    vcsRepositoryUrl: options.repositoryUrl?.(project),
    vcsProvider: options.providers?.get(connection),
  };
}

/** A single value as it is, several as a list. */
function oneOrList(values: readonly (string | null | undefined)[]): unknown {
  const known = values.filter(value => value !== null && value !== undefined);
  return known.length > 1 ? known : known[0];
}
