/** Dependencies shared by all components of a process. */
import type { Connection } from '../../driver/connection.ts';
import type { Messenger } from '../../driver/messenger.ts';
import type { RepositoryCache } from '../../git/repository-cache.ts';
import type { Clock } from '../../lib/clock.ts';
import type { IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { Metrics } from '../../metrics/registry.ts';
import type { ComponentRecord } from '../../model/component.ts';
import type { Tenant } from '../../model/layout.ts';
import { type ConnectionName, type ProjectKey, projectIdOf } from '../../model/project.ts';
import type { LiveNodes } from '../../nodes/live-nodes.ts';
import type { NoticeRule } from '../../scheduler/notices/notice-rules.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Keyring } from '../../store/keystore/keyring.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';
import type { LoadedDrivers } from './driver-table.ts';
import type { TracingControl } from './live-tracing.ts';

/** What a component gets at each start: the process's dependencies, and a session with the store (`manage-component.ts`). */
export interface Core {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: IdMaker;
  /** Name of this machine, in locks, spans and results. */
  readonly host: string;
  readonly paths: StorePaths;
  readonly connections: ReadonlyMap<ConnectionName, Connection>;
  /** Those that only take reports. */
  readonly messengers: ReadonlyMap<ConnectionName, Messenger>;
  /** Of `[notify NAME]`. */
  readonly notices: readonly NoticeRule[];
  readonly drivers: LoadedDrivers;
  readonly tenants: readonly Tenant[];
  /** Absent: no `[nodes] config`, or no scheduler in this process. */
  readonly nodes?: LiveNodes;
  readonly repositories: RepositoryCache;
  /** Public URL without trailing slash; final once the web listens. */
  readonly root: () => string;
  readonly tracing: TracingControl;
  readonly metrics: Metrics;
  /** Undefined: without `[keystore]` projects have no keys. */
  readonly keyring: Keyring | undefined;
  /**
   * The store session of the component being started: called once per start, closed by the component. Waits until the store is
   * reachable.
   */
  session(): Promise<Store>;
  /** Start paused: `pause` is called right after the start, and no work may be taken before. */
  readonly paused: boolean;
  /** Publishes in the registry why a running component takes no work; undefined: it takes work again. */
  readonly trouble: (text: string | undefined) => void;
}

/**
 * A running component, for one session with the store: supervise.ts starts it, registers it, and after the loss of its
 * session closes it and starts another one.
 *
 *     running ⇄ paused      pause(), resume()
 *     → drained             drain(): takes no new work, finishes the work it has
 *     → closed              close(): immediately; builds are killed and retried elsewhere
 */
export interface Component {
  readonly name: ComponentName;
  /**
   * Rejects when it cannot continue; resolves when it was closed. After StoreError `SessionExpired` or `Closed` it restarts with
   * a new session; any other error ends the process.
   */
  readonly ended: Promise<void>;
  /** Resolves when `notReady` first returns undefined. Absent: ready once started. */
  readonly ready?: Promise<void>;
  /** Why it does not work yet, for people; undefined: it works. */
  readonly notReady: () => string | undefined;
  /** Published in the registry; absent: only its existence is. */
  readonly offers?: Pick<
    ComponentRecord,
    'labels' | 'address' | 'walls' | 'ansibleVersions' | 'zone' | 'allowUnzoned'
  >;
  /**
   * Takes no new work; work in progress continues: a scheduler releases its locks after the current turn, mergers and executors
   * claim nothing. Idempotent, never fails.
   */
  pause(): void;
  /** The opposite of `pause`; without effect after `drain` or `close`. Idempotent. */
  resume(): void;
  /**
   * Like `pause`, permanently: resolves when all its work is done (builds ended, answers written, locks released). It must still
   * be closed. Idempotent; `close` ends the wait early.
   */
  drain(): Promise<void>;
  /** Ends it and its session immediately. Idempotent, also when the session is lost. */
  close(): Promise<void>;
}

/** Also an argument of `gatehouse start` and the beginning of the component's id in the registry. */
export type ComponentName = 'scheduler' | 'merger' | 'executor' | 'web';

/** `<host>/<project>`, as jobs see it. Without such a connection its name stands in for the host. */
export function canonicalName(core: Pick<Core, 'connections'>, project: ProjectKey): string {
  const { connection, name } = projectIdOf(project);
  return `${core.connections.get(connection)?.canonicalHostname ?? connection}/${name}`;
}
