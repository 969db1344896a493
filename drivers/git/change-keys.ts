/** Reading a change key back into what it names: `local/acme/app#master/login`, `local/acme/app@refs/tags/v1@3f2a…`. */
import { isObjectId, type ObjectId } from '../../src/git/object-id.ts';
import { isRefName, type RefName } from '../../src/git/ref-name.ts';
import type { ChangeKey } from '../../src/model/change.ts';
import { type ConnectionName, type ProjectKey, projectIdOf, projectKey } from '../../src/model/project.ts';
import { parseChangeId } from './ref-view.ts';

/** `id` is that of a proposal, `<branch>/<topic>`; `commit` null: the ref was deleted. */
export type NamedChange =
  | { readonly kind: 'change'; readonly project: ProjectKey; readonly id: string }
  | {
      readonly kind: 'ref';
      readonly project: ProjectKey;
      readonly ref: RefName;
      readonly commit: ObjectId | null;
    };

/** Undefined: it names nothing of this connection. Project names hold neither `#` nor `@`. */
export function readChangeKey(key: ChangeKey, connection: ConnectionName): NamedChange | undefined {
  const [, prefix = '', separator, rest = ''] = /^([^#@]+)([#@])(.+)$/.exec(key) ?? [];
  const slash = prefix.indexOf('/');
  if (slash < 1) return undefined;
  const project = projectKey({ connection: prefix.slice(0, slash), name: prefix.slice(slash + 1) });
  if (projectIdOf(project).connection !== connection) return undefined;
  if (separator === '#')
    return parseChangeId(rest) === undefined ? undefined : { kind: 'change', project, id: rest };
  const at = rest.lastIndexOf('@');
  const [ref, commit] = [rest.slice(0, at), rest.slice(at + 1)];
  if (!isRefName(ref)) return undefined;
  if (commit === 'deleted') return { kind: 'ref', project, ref, commit: null };
  return isObjectId(commit) ? { kind: 'ref', project, ref, commit } : undefined;
}
