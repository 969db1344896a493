/** What the world hands to every process. */
import type { BuildRequest } from '../../../src/model/build-request.ts';
import type { Tenant } from '../../../src/model/layout.ts';
import type { StorePaths } from '../../../src/store/paths.ts';
import type { Store } from '../../../src/store/port.ts';
import type { TracePolicy } from '../../../src/tracing/live-tracing.ts';
import type { CodeHost } from '../host/code-host.ts';
import type { RemoteCall } from '../host/remote-call.ts';
import type { Incarnation } from '../kernel/incarnation.ts';
import type { JobRun } from './executor.ts';
import type { Received } from './sender.ts';
import type { WebDoor } from './web.ts';

export interface ProcessParts {
  readonly host: CodeHost;
  readonly call: RemoteCall;
  readonly paths: StorePaths;
  readonly tenants: readonly Tenant[];
  readonly tenant: string;
  readonly jobRuns: JobRun[];
  readonly received: Received;
  readonly tracing: TracePolicy;
  /** Virtual milliseconds. */
  now(): number;
  /** A store session of this life. */
  connect(life: Incarnation): Store;
  jobDuration(request: BuildRequest, life: Incarnation): number;
  openDoor(life: Incarnation, door: WebDoor): void;
  /** An effect outside the store begins. */
  onEffect(life: Incarnation, store: Store, what: string): void;
}
