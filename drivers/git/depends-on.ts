/**
 * `Depends-On:` lines of commit messages. On a git connection a change of another project is named
 *
 *     Depends-On: acme/lib@master/fix-timeout
 *
 * project, `@`, and the change id: target branch and topic. A change of another connection names the place as well, by
 * canonical host name or as the URL of the repository:
 *
 *     Depends-On: git.example.org/acme/lib@master/fix-timeout
 *     Depends-On: https://git.example.org/acme/lib@master/fix-timeout
 *
 * Any other value is kept as written, so that the refusal can quote it.
 */
import { type ChangeKey, changeKey } from '../../src/model/change.ts';
import { type ConnectionName, type ProjectKey, projectIdOf, projectKey } from '../../src/model/project.ts';
import { changeId, parseChangeId } from './ref-view.ts';

/** Further lines are ignored. */
const MOST = 100;

/** The values of all such lines, as written, in order, each once. */
export function dependsOnLines(message: string): readonly string[] {
  const lines = [...message.matchAll(/^depends-on:[ \t]*(\S.*)$/gim)].map(([, value = '']) => value.trim());
  return [...new Set(lines)].slice(0, MOST);
}

/** The change a value names, or undefined when it has another form or names a project outside `projects`. */
export function namedChange(
  value: string,
  connection: ConnectionName,
  projects: ReadonlySet<ProjectKey> | undefined,
): ChangeKey | undefined {
  const at = value.indexOf('@');
  const name = parseChangeId(value.slice(at + 1));
  if (at < 1 || name === undefined || /[\s#]/.test(value)) return undefined;
  const project = projectKey({ connection, name: value.slice(0, at) });
  if (projects !== undefined && !projects.has(project)) return undefined;
  return changeKey(project, changeId(name));
}

/** The places by which projects of this connection may be named. */
export interface NamedPlaces {
  readonly connection: ConnectionName;
  readonly canonicalHostname: string;
  /** Undefined: only this machine reaches the repository. */
  publicUrl(project: ProjectKey): string | undefined;
  readonly projects: ReadonlySet<ProjectKey>;
}

/** The change a value names in any of the forms above. */
export function changeOfUrl(value: string, places: NamedPlaces): ChangeKey | undefined {
  const { connection, projects } = places;
  const text = value.replace(/^([a-z][a-z\d+.-]*:\/\/)[^/@]*@/i, '$1');
  const at = text.indexOf('@');
  if (at < 1) return undefined;
  const place = text.slice(0, at);
  const project = [...projects].find(each => placesOf(each, places).includes(withoutSuffix(place)));
  const short = project === undefined ? text : `${projectIdOf(project).name}${text.slice(at)}`;
  return namedChange(short, connection, projects);
}

function placesOf(project: ProjectKey, { canonicalHostname, publicUrl }: NamedPlaces): readonly string[] {
  const url = publicUrl(project);
  const canonical = `${canonicalHostname}/${projectIdOf(project).name}`;
  return url === undefined ? [canonical] : [canonical, withoutSuffix(url)];
}

function withoutSuffix(url: string): string {
  return url.replace(/\.git$/, '');
}
