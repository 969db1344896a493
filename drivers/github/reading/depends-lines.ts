/**
 * `Depends-On:` lines of a pull request's body, and the forms in which a pull request is named there:
 *
 *     Depends-On: https://github.com/acme/lib/pull/7
 */
import { type ChangeKey, changeKey } from '../../../src/model/change.ts';
import { type ConnectionName, type ProjectKey, projectKey } from '../../../src/model/project.ts';

/** Further lines are ignored. */
const MOST_LINES = 100;
/** Characters; longer values name nothing. */
const LONGEST_LINE = 500;

/** The values as written, in order, each once. */
export function pullDependsOn(body: string): readonly string[] {
  const values: string[] = [];
  for (const line of body.split(/\r\n|\r|\n/)) {
    const value = /^depends-on:[ \t]*(\S.*)$/i.exec(line.slice(0, LONGEST_LINE))?.[1]?.trim();
    if (value !== undefined && !values.includes(value)) values.push(value);
    if (values.length === MOST_LINES) break;
  }
  return values;
}

/** Where the connection's pull requests are. */
export interface PullPlaces {
  readonly connection: ConnectionName;
  /** Host of the pages, e.g. `github.com`. */
  readonly webHost: string;
  readonly canonicalHostname: string;
}

/** The pull request that a URL names; undefined: none of this connection's projects. Anything behind the number is ignored, as in Zuul. */
export function pullOfUrl(
  value: string,
  places: PullPlaces,
  projects: ReadonlySet<ProjectKey>,
): ChangeKey | undefined {
  const found = /^(?:https?:\/\/)?([^/@\s]+)\/([\w.-]+\/[\w.-]+)\/pull\/([1-9]\d{0,9})(?:[/?#]\S*)?$/i.exec(
    value,
  );
  if (found === null) return undefined;
  const [, host = '', name = '', number = ''] = found;
  if (![places.webHost, places.canonicalHostname].includes(host.toLowerCase())) return undefined;
  const project = projectKey({ connection: places.connection, name });
  return projects.has(project) ? changeKey(project, number) : undefined;
}
