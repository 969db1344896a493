/** The dependencies of a scheduler; `src/cmd` makes them. */
import type { Connection } from '../driver/connection.ts';
import type { Driver } from '../driver/driver.ts';
import type { Messenger } from '../driver/messenger.ts';
import type { History } from '../history/history.ts';
import type { LayoutTable } from '../layout/layout-table.ts';
import type { Calls } from '../lib/calls.ts';
import type { Clock } from '../lib/clock.ts';
import type { IdMaker } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { MetricsSink } from '../metrics/registry.ts';
import type { Tenant } from '../model/layout.ts';
import type { ConnectionName } from '../model/project.ts';
import type { LiveNodes } from '../nodes/live-nodes.ts';
import type { StorePaths } from '../store/paths.ts';
import type { Store } from '../store/port.ts';
import type { LiveTracing } from '../tracing/live-tracing.ts';
import type { ExplainChange } from './events/answer-questions.ts';
import type { NoticeRule } from './notices/notice-rules.ts';
import type { SecretKeys } from './tenant/check-secrets.ts';
import type { ProjectPlaces } from './turn/build-projects.ts';
import type { RecordedDuration } from './turn/expected-durations.ts';

/** Passed by `src/cmd/service/start-scheduler.ts`; a scheduler with another session gets new ones. */
export interface SchedulerDeps {
  readonly clock: Clock;
  /** Milliseconds since the Unix epoch by the machine's clock, which may be set at any time: timers of people go by it. */
  readonly wall: () => number;
  readonly ids: IdMaker;
  readonly log: Log;
  readonly store: Store;
  readonly paths: StorePaths;
  /** All configured ones: this scheduler contends for each of them. */
  readonly connections: ReadonlyMap<ConnectionName, Connection>;
  /** Those that only take reports. Absent: there are none. */
  readonly messengers?: ReadonlyMap<ConnectionName, Messenger>;
  /** By name. */
  readonly drivers: ReadonlyMap<string, Driver>;
  /** From this process's tenant file; other schedulers may have others during an upgrade. */
  readonly tenants: readonly Tenant[];
  /** Opens the calls that build and query the layouts of one tenant, in a thread, with the drivers of its connections; closed with the scheduler. */
  openLayouts(drivers: ReadonlyMap<ConnectionName, Driver>): Calls<LayoutTable>;
  /** Keys that decrypt secrets, to check them; absent: the installation has no keystore. */
  readonly secretKeys?: SecretKeys;
  readonly places: Pick<ProjectPlaces, 'canonicalName'>;
  /** Public URL of the web service, without trailing slash. */
  readonly webRoot: string;
  readonly tracing: LiveTracing;
  /** Absent: metrics are off. */
  readonly metrics?: MetricsSink;
  /** How long jobs took lately, from the history; absent: this process has no history open. */
  readonly recordedDurations?: () => Promise<readonly RecordedDuration[]>;
  /** For forecasts; absent: this process has no history open, and learns from items that leave. */
  readonly history?: Pick<History, 'itemsLeft'>;
  /** Of `[notify NAME]`, each for one of `messengers`. Absent: none. */
  readonly notices?: readonly NoticeRule[];
  /** For people who ask at a code host; absent: questions are dropped. */
  readonly explainChange?: ExplainChange;
  /**
   * Milliseconds without a change in the set of executors before a label that none of them offers counts as missing. Default 0: for
   * executors that start before the scheduler and do not come and go.
   */
  readonly executorPatience?: number;
  /** The machines of `nodes.yaml`; absent: this process has no `[nodes] config`. */
  readonly nodes?: LiveNodes;
  /** Build requests rank behind those of their own projects, see src/pipeline/relative-priority.ts. Default: by age alone. */
  readonly relativePriority?: boolean;
  /** Names this process, for people: `<host>/<pid>`. */
  readonly name: string;
}
