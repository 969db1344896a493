/** What the processing of one event works with, and what its parts return. */
import type { DriverMemory } from '../../../src/driver/driver-memory.ts';
import type { HostFinding, HostFound } from '../../../src/driver/host-finding.ts';
import type { StaleReads } from '../../../src/driver/stale-reads.ts';
import type { Clock, Nanoseconds } from '../../../src/lib/clock.ts';
import type { ChangeKey, ChangeRecord } from '../../../src/model/change.ts';
import type { ConnectionEvent } from '../../../src/model/event.ts';
import type { ConnectionName, ProjectKey } from '../../../src/model/project.ts';
import type { GerritApi, GerritCall } from '../api/port.ts';
import type { GerritNotification } from '../intake/notification.ts';
import type { GerritEventFacts } from '../language/event-facts.ts';
import type { ChangeReader } from './change-reader.ts';

/** What a notification says of a change. */
export type ChangeAbout = Extract<GerritNotification['about'], { readonly kind: 'change' }>;

/** Of one connection. */
export interface GerritReadingDeps {
  readonly api: GerritApi;
  readonly reader: Pick<ChangeReader, 'read' | 'patchsetsOf' | 'submitsTopics'>;
  readonly clock: Clock;
  readonly connection: ConnectionName;
  /** Of Gerrit's pages, without trailing slash. */
  readonly baseUrl: string;
}

/** Of one connection. */
export interface GerritProcessDeps extends GerritReadingDeps {
  readonly staleReads: StaleReads;
}

/** One event of a project that some tenant has. */
export interface GerritProcessing {
  readonly event: ConnectionEvent;
  readonly notification: GerritNotification;
  readonly project: ProjectKey;
  /** Those any tenant has on this connection. */
  readonly projects: ReadonlySet<ProjectKey>;
  readonly memory: DriverMemory;
  /** When the first event of the project came in, by Gerrit's clock where it names a time. */
  readonly watchedSince: Nanoseconds;
  /** What is stored of a change; undefined: nothing. */
  readonly record: (key: ChangeKey) => ChangeRecord | undefined;
  readonly call: GerritCall;
  readonly deps: GerritProcessDeps;
}

/** What a part found. */
export type GerritFinding = HostFinding<GerritEventFacts>;

/** A finding, or that Gerrit does not serve now. */
export type GerritFound = HostFound<GerritEventFacts>;
