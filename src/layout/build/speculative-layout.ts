/**
 * The layout a change is tested with when it, or an item ahead of it, edits configuration.
 *
 * Untrusted projects' proposed files take effect; a config-project's do not (they take effect only after they merge) but
 * are validated. Errors that the tenant's configuration has without the change are not reported for it.
 */
import { type ConfigError, configErrorText } from '../../model/config-error.ts';
import type { BranchConfig } from '../../model/merge.ts';
import type { Layout } from '../model/layout.ts';
import { buildLayout, type LayoutInput } from './build-layout.ts';

/** A layout with proposed files, and what they break; it says nothing of errors the tenant has anyway. */
export interface SpeculativeLayout {
  /** To freeze jobs with. */
  readonly layout: Layout;
  /** Errors that the proposed files add; with any of severity `error` the item must not run. */
  readonly errors: readonly ConfigError[];
}

/**
 * @param current the input of the tenant's layout.
 * @param before the layout without the change: the tenant's, or the one of the item ahead.
 * @param proposed configuration of project-branches as merged with this item and those ahead; replaces theirs.
 */
export function speculativeLayout(
  current: LayoutInput,
  before: Layout,
  proposed: readonly BranchConfig[],
): SpeculativeLayout {
  const trusted = new Set(
    current.tenant.projects.filter(project => project.trusted).map(({ project }) => project),
  );
  const effective = proposed.filter(({ project }) => !trusted.has(project));
  const layout = buildLayout({
    ...current,
    configs: replaced(current.configs, effective),
    proposed: effective,
  });
  const known = new Set(before.errors.map(identity));
  const isNew = (error: ConfigError) => !known.has(identity(error));
  if (effective.length === proposed.length) return { layout, errors: layout.errors.filter(isNew) };

  const validated = buildLayout({ ...current, configs: replaced(current.configs, proposed), proposed });
  const wrongWithAll = new Set(validated.errors.map(identity));
  // These errors vanish once the config-project's change is merged: the text names the order.
  const early = layout.errors
    .filter(error => isNew(error) && !wrongWithAll.has(identity(error)))
    .map(error => ({
      ...error,
      text: `${error.text} (a proposed change of a config-project fixes this, but it must merge first)`,
    }));
  return { layout, errors: [...validated.errors.filter(isNew), ...early] };
}

function replaced(
  current: readonly BranchConfig[],
  proposed: readonly BranchConfig[],
): readonly BranchConfig[] {
  const key = ({ project, branch }: BranchConfig) => `${project} ${branch}`;
  const byKey = new Map(current.map(config => [key(config), config]));
  for (const config of proposed) byKey.set(key(config), config);
  return [...byKey.values()];
}

/** The error without its line, which moves when other parts of the file change. */
function identity(error: ConfigError): string {
  return configErrorText({ ...error, line: 0, column: 0 });
}
