/**
 * Where the checkout of a project is in the workspace of a job, below `src/`, by the job's `workspace-scheme`:
 *
 *     golang   example.org/acme/app       the canonical name
 *     flat     app                        its last part
 *     unique   example.org/acme/acme%2Fapp
 */
import { type ProjectKey, projectIdOf } from './project.ts';

/** As in the configuration. */
export type WorkspaceScheme = 'golang' | 'flat' | 'unique';

/** @param scheme undefined: golang. @param canonicalName host and name. */
export function workspacePlace(
  scheme: WorkspaceScheme | undefined,
  project: ProjectKey,
  canonicalName: string,
): string {
  const { name } = projectIdOf(project);
  switch (scheme) {
    case undefined:
    case 'golang':
      return canonicalName;
    case 'flat':
      return name.slice(name.lastIndexOf('/') + 1);
    case 'unique': {
      const [first = name] = name.split('/');
      return `${canonicalName.slice(0, canonicalName.length - name.length)}${first}/${quoted(name)}`;
    }
  }
}

/** As Python's `quote_plus`. */
function quoted(name: string): string {
  const escaped = encodeURIComponent(name.toWellFormed()).replace(
    /[!'()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return escaped.replaceAll('%20', '+');
}

/** Says which two of the projects have the same place; undefined: all have their own. */
export function sharedPlace(
  projects: readonly { readonly project: ProjectKey; readonly place: string }[],
): string | undefined {
  const taken = new Map<string, ProjectKey>();
  for (const { project, place } of projects) {
    const other = taken.get(place);
    if (other !== undefined && other !== project) {
      const [one, two] = [other, project].map(each => projectIdOf(each).name);
      return `projects ${one} and ${two} are both checked out at src/${place}; choose workspace-scheme golang or unique`;
    }
    taken.set(place, project);
  }
  return undefined;
}
