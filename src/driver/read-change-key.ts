/** Reading a change key back into what it names: `github/acme/app#12`, `local/acme/app@refs/tags/v1@3f2a…`. */
import type { ChangeKey } from '../model/change.ts';
import {
  type CommitId,
  type ConnectionName,
  type ProjectKey,
  parseCommitId,
  projectKey,
} from '../model/project.ts';

/** `id` is that of a change; `commit` null: the ref was deleted. */
export type NamedChange =
  | { readonly kind: 'change'; readonly project: ProjectKey; readonly id: string }
  | {
      readonly kind: 'ref';
      readonly project: ProjectKey;
      readonly ref: string;
      readonly commit: CommitId | null;
    };

/**
 * @param isId whether a text can be the id of a change at this host: names of projects, ids and refs may hold `#` and `@` as well.
 * @returns undefined: it names nothing of this connection.
 */
export function readChangeKey(
  key: ChangeKey,
  connection: ConnectionName,
  isId: (text: string) => boolean,
): NamedChange | undefined {
  if (!key.startsWith(`${connection}/`)) return undefined;
  const place = key.slice(connection.length + 1);
  const [, refProject = place, ref, commit = ''] =
    /^(.+?)@(refs\/.+)@(deleted|[0-9a-f]{40}|[0-9a-f]{64})$/.exec(place) ?? [];
  const project = (name: string) => projectKey({ connection, name });
  // In front of the ref: what is behind it belongs to its name.
  for (const { index } of refProject.matchAll(/#/g)) {
    const id = place.slice(index + 1);
    if (index > 0 && isId(id)) return { kind: 'change', project: project(place.slice(0, index)), id };
  }
  if (ref === undefined) return undefined;
  return {
    kind: 'ref',
    project: project(refProject),
    ref,
    commit: commit === 'deleted' ? null : parseCommitId(commit),
  };
}
