import type { Connection } from '../../driver/connection.ts';
import type { MetricsSink } from '../../metrics/registry.ts';
import type { ConnectionName } from '../../model/project.ts';
import type { Core } from './core.ts';

/** What mergers and executors need of the process they run in. */
export type WorkerCore = Pick<
  Core,
  'settings' | 'log' | 'clock' | 'ids' | 'host' | 'paths' | 'repositories' | 'session' | 'paused' | 'trouble'
> & {
  readonly metrics: MetricsSink;
  /** They only fetch: nothing else of a connection is their business. */
  readonly connections: ReadonlyMap<ConnectionName, Pick<Connection, 'remote'>>;
};
