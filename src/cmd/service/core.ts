/** What every component of one process shares. */
import type { Connection } from '../../driver/connection.ts';
import type { RepositoryCache } from '../../git/repository-cache.ts';
import type { Clock } from '../../lib/clock.ts';
import type { IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { Tenant } from '../../model/layout.ts';
import { type ConnectionName, type ProjectKey, projectIdOf } from '../../model/project.ts';
import type { Settings } from '../../settings/settings.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';
import type { SpanOptions } from '../../tracing/spans/span-options.ts';

export interface Core {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: IdMaker;
  /** Name of this machine, in locks, spans and results. */
  readonly host: string;
  readonly paths: StorePaths;
  readonly connections: ReadonlyMap<ConnectionName, Connection>;
  readonly tenants: readonly Tenant[];
  readonly repositories: RepositoryCache;
  /** Public URL without trailing slash; final once the web listens. */
  readonly root: () => string;
  /** Undefined: tracing is off. */
  readonly spans: SpanOptions | undefined;
  /** A store session for one component. */
  session(): Store;
}

/** A running component. */
export interface Component {
  readonly name: string;
  /** Rejects when it fails for good; resolves when it was closed. */
  readonly ended: Promise<void>;
  /** Undefined: it works. Otherwise why it does not yet, for people. */
  readonly notReady: () => string | undefined;
  close(): Promise<void>;
}

export function canonicalName(core: Pick<Core, 'connections'>, project: ProjectKey): string {
  const { connection, name } = projectIdOf(project);
  return `${core.connections.get(connection)?.canonicalHostname ?? connection}/${name}`;
}
