/** Where merger and executor find a project: the connection's answer, or the trouble with its host. */
import { stripUserinfo } from '../lib/redact.ts';
import type { HostTrouble } from '../model/host-trouble.ts';
import { type ConnectionName, type ProjectKey, projectIdOf } from '../model/project.ts';
import type { Connection } from './connection.ts';
import type { GitRemote } from './remote.ts';

/** For reading: a worker never writes to a host. */
export type FindRemote = (project: ProjectKey) => Promise<GitRemote | { readonly trouble: HostTrouble }>;

export function findRemote(connections: ReadonlyMap<ConnectionName, Pick<Connection, 'remote'>>): FindRemote {
  return async project => {
    const { connection: name } = projectIdOf(project);
    const connection = connections.get(name);
    if (connection === undefined)
      return { trouble: { project, reason: 'bad-url', text: `there is no connection ${name}` } };
    try {
      return await connection.remote(project, 'read');
    } catch (error) {
      // No access is the host's trouble (a token service that is down, an installation suspended), never the change's fault.
      return { trouble: { project, reason: 'other', text: stripUserinfo(String(error)).slice(0, 300) } };
    }
  };
}
