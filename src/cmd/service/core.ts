/** What every component of one process shares. */
import type { Connection } from '../../driver/connection.ts';
import type { RepositoryCache } from '../../git/repository-cache.ts';
import type { Clock } from '../../lib/clock.ts';
import type { IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { Metrics } from '../../metrics/registry.ts';
import type { ComponentRecord } from '../../model/component.ts';
import type { Tenant } from '../../model/layout.ts';
import { type ConnectionName, type ProjectKey, projectIdOf } from '../../model/project.ts';
import type { Settings } from '../../settings/settings.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';
import type { DriverTable } from './driver-table.ts';
import type { TracingControl } from './live-tracing.ts';

export interface Core {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: IdMaker;
  /** Name of this machine, in locks, spans and results. */
  readonly host: string;
  readonly paths: StorePaths;
  readonly connections: ReadonlyMap<ConnectionName, Connection>;
  readonly drivers: DriverTable;
  readonly tenants: readonly Tenant[];
  readonly repositories: RepositoryCache;
  /** Public URL without trailing slash; final once the web listens. */
  readonly root: () => string;
  readonly tracing: TracingControl;
  readonly metrics: Metrics;
  /**
   * The store session of the component being started: asked for once per start, closed by the component. Waits for the
   * store as long as it takes to reach it.
   */
  session(): Promise<Store>;
  /** It begins paused: `pause` is called before anything else, and nothing should be taken even before that. */
  readonly paused: boolean;
  /** The registry is to say why it takes no work although it runs; undefined: it does again. */
  readonly trouble: (text: string | undefined) => void;
}

/**
 * A running component, for one session with the store: supervise.ts starts it, registers it, and after the loss of its
 * session closes it and starts another one.
 *
 *     running ⇄ paused      pause(), resume()
 *     → drained             drain(): takes nothing new, finishes what it has
 *     → closed              close(): at once; builds are killed and tried again elsewhere
 */
export interface Component {
  readonly name: ComponentName;
  /**
   * Rejects when it cannot go on; resolves when it was closed. StoreError `SessionExpired` or `Closed` mean that its session
   * is over, after which a new one begins; anything else ends the process.
   */
  readonly ended: Promise<void>;
  /** Resolves when `notReady` has no reason any more. Absent: it works as soon as it is started. */
  readonly ready?: Promise<void>;
  /** Undefined: it works. Otherwise why it does not yet, for people. */
  readonly notReady: () => string | undefined;
  /** What the registry tells others of it; absent: nothing but that it is there. */
  readonly offers?: Pick<ComponentRecord, 'labels' | 'address' | 'walls'>;
  /**
   * Takes no new work from now on, what it has goes on: a scheduler gives its locks back after the turn under way, mergers
   * and executors claim nothing. Idempotent, never fails.
   */
  pause(): void;
  /** The opposite of `pause`; without effect after `drain` or `close`. Idempotent. */
  resume(): void;
  /**
   * As `pause`, for good: resolves when everything it had is done and handed over (builds ended, answers written, locks
   * released). It still has to be closed. Idempotent; `close` ends the wait early.
   */
  drain(): Promise<void>;
  /** Ends it at once and its session with it. Idempotent, also when the session is lost. */
  close(): Promise<void>;
}

export type ComponentName = 'scheduler' | 'merger' | 'executor' | 'web';

export function canonicalName(core: Pick<Core, 'connections'>, project: ProjectKey): string {
  const { connection, name } = projectIdOf(project);
  return `${core.connections.get(connection)?.canonicalHostname ?? connection}/${name}`;
}
