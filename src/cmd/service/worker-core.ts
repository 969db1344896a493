import type { Connection } from '../../driver/connection.ts';
import type { MetricsSink } from '../../metrics/registry.ts';
import type { ConnectionName } from '../../model/project.ts';
import type { Core } from './core.ts';

/** Dependencies of mergers and executors. */
export type WorkerCore = Pick<
  Core,
  | 'settings'
  | 'log'
  | 'clock'
  | 'ids'
  | 'host'
  | 'paths'
  | 'keyring'
  | 'repositories'
  | 'session'
  | 'paused'
  | 'trouble'
> & {
  readonly metrics: MetricsSink;
  /** They only fetch. */
  readonly connections: ReadonlyMap<ConnectionName, Pick<Connection, 'remote' | 'borrowsAccess'>>;
};
