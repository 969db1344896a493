/**
 * `Depends-On:` lines of commit messages. On a git connection a change of another project is named
 *
 *     Depends-On: acme/lib@master/fix-timeout
 *
 * project, `@`, and the change id: target branch and topic. Always a project of the same connection. What is written
 * otherwise is kept as it is, so that the refusal can quote it.
 */
import { type ChangeKey, changeKey } from '../../src/model/change.ts';
import { type ConnectionName, type ProjectKey, projectKey } from '../../src/model/project.ts';
import { changeId, parseChangeId } from './ref-view.ts';

/** Lines beyond this many are not looked at. */
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
