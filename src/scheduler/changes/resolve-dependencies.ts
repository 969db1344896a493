/**
 * Which changes the `Depends-On` lines of a record name, over all connections. What a driver finds by itself (git parents, footers
 * of its host) is in the record already; each connection is asked about every other line.
 *
 *     local/acme/app#12 needs "https://review.example.org/c/acme/lib/+/7"   →   dependsOn [..., review/acme/lib#7]
 *
 * A short form may name a change of several connections: the change's own connection goes first; of the others, exactly one must
 * know it. A line that names no known change stays as written, for the refusal to quote, and is resolved again with the next event:
 * the project may be in a tenant by then. Where a host that has to be asked does not serve: `HostNotAsked`.
 */
import type { Connection } from '../../driver/connection.ts';
import { type ChangeKey, type ChangeRecord, connectionOfKey } from '../../model/change.ts';
import type { ConnectionName, ProjectKey } from '../../model/project.ts';
import { isRemoteFault } from '../remote-fault.ts';

/** Asks hosts, so it is called before a commit is made, and never by a turn. */
export interface DependencyResolver {
  /**
   * @returns the same record when no line of it names a known change.
   * @throws {HostNotAsked} where a host that may know a line does not serve; the signal's reason.
   */
  resolve(record: ChangeRecord, signal: AbortSignal): Promise<ChangeRecord>;
}

/** All connections: a line may name a change of any. */
export interface DependencyResolverDeps {
  readonly connections: ReadonlyMap<
    ConnectionName,
    { readonly source: Pick<Connection['source'], 'changeOfUrl'> }
  >;
  /** All projects of any tenant on a connection. */
  projects(connection: ConnectionName): ReadonlySet<ProjectKey>;
}

/** Which change a line names is not known: a host that has to be asked does not serve. Asking again will do. */
export class HostNotAsked extends Error {
  readonly retryable = true;

  constructor(line: string, connection: ConnectionName, cause: unknown) {
    super(`cannot ask ${connection} which change "${line}" names`, { cause });
    this.name = 'HostNotAsked';
  }
}

/** Keeps no state; each call asks again. */
export function createDependencyResolver(deps: DependencyResolverDeps): DependencyResolver {
  async function named(
    line: string,
    connection: ConnectionName,
    signal: AbortSignal,
  ): Promise<ChangeKey | undefined> {
    const source = deps.connections.get(connection)?.source;
    try {
      return await source?.changeOfUrl(line, deps.projects(connection), signal);
    } catch (error) {
      signal.throwIfAborted();
      throw isRemoteFault(error) ? new HostNotAsked(line, connection, error) : error;
    }
  }

  async function find(
    line: string,
    own: ConnectionName,
    signal: AbortSignal,
  ): Promise<ChangeKey | undefined> {
    const first = await named(line, own, signal);
    if (first !== undefined) return first;
    const others = [...deps.connections.keys()].filter(name => name !== own);
    const found = (await Promise.all(others.map(name => named(line, name, signal)))).filter(
      key => key !== undefined,
    );
    return found.length === 1 ? found[0] : undefined;
  }

  return {
    async resolve(record, signal) {
      const { change, dependsOn, unresolvedDependencies: lines } = record;
      if (lines.length === 0) return record;
      const own = connectionOfKey(change.key);
      const keys = await Promise.all(lines.map(line => find(line, own, signal)));
      const found = keys.flatMap(key => (key === undefined || key === change.key ? [] : [key]));
      if (keys.every(key => key === undefined)) return record;
      return {
        ...record,
        dependsOn: [...new Set([...dependsOn, ...found])],
        unresolvedDependencies: lines.filter((_, index) => keys[index] === undefined),
      };
    },
  };
}
