/** Where mergers and executors fetch a project from: the connection's answer, or the host trouble that prevented one. */
import { stripUserinfo } from '../lib/redact.ts';
import type { HostTrouble } from '../model/host-trouble.ts';
import { type ConnectionName, type ProjectKey, projectIdOf } from '../model/project.ts';
import type { Connection } from './connection.ts';
import type { GitRemote } from './remote.ts';

/** Never rejects. Gives read access only: workers do not write to code hosts. */
export type FindRemote = (project: ProjectKey) => Promise<GitRemote | { readonly trouble: HostTrouble }>;

/** @param connections those of this process; a project of any other is host trouble `bad-url`. */
export function findRemote(connections: ReadonlyMap<ConnectionName, Pick<Connection, 'remote'>>): FindRemote {
  return async project => {
    const { connection: name } = projectIdOf(project);
    const connection = connections.get(name);
    if (connection === undefined)
      return { trouble: { project, reason: 'bad-url', text: `there is no connection ${name}` } };
    try {
      return await connection.remote(project, 'read');
    } catch (error) {
      // Missing access (a token service that is down, a suspended installation) is host trouble and no verdict on a change.
      return { trouble: { project, reason: 'other', text: stripUserinfo(String(error)).slice(0, 300) } };
    }
  };
}
