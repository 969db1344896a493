/** What the processing of one event works with, and what its parts return. */
import type { DriverMemory } from '../../../src/driver/driver-memory.ts';
import { type HostFinding, type HostFound, nothingFound } from '../../../src/driver/host-finding.ts';
import type { StaleReads } from '../../../src/driver/stale-reads.ts';
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import type { ChangeKey, ChangeRecord } from '../../../src/model/change.ts';
import type { ConnectionEvent } from '../../../src/model/event.ts';
import type { ProjectKey } from '../../../src/model/project.ts';
import type { GithubCall } from '../api/port.ts';
import type { Notification } from '../intake/notification.ts';
import type { OwnLandings } from '../landing/own-landings.ts';
import type { GithubEventFacts } from '../language/event-facts.ts';
import { movedText, type RepositoryNamed } from '../repository-names.ts';
import type { OpenPullsReader, PullReader, PullReaderDeps } from './read-pull.ts';

/** Of one connection. */
export interface GithubProcessDeps extends PullReaderDeps {
  readonly readPull: PullReader;
  readonly readOpenPulls: OpenPullsReader;
  readonly staleReads: StaleReads;
  /** Installations were added, suspended or removed: what is known of them is asked again. */
  readonly installationsChanged?: () => void;
  readonly named?: RepositoryNamed;
  /** What this process landed itself; absent: it lands nothing. */
  readonly own?: Pick<OwnLandings, 'take' | 'isMerged'>;
}

/** One event of a repository that some tenant has. */
export interface EventProcessing {
  readonly event: ConnectionEvent;
  readonly notification: Notification;
  readonly project: ProjectKey;
  readonly memory: DriverMemory;
  /** When the first event of the repository came in; undefined: this is the first one. */
  readonly seenSince: Nanoseconds | undefined;
  /** What is stored of a change; undefined: nothing. */
  readonly record: (key: ChangeKey) => ChangeRecord | undefined;
  readonly call: GithubCall;
  readonly deps: GithubProcessDeps;
}

/** What a part found. */
export type GithubFinding = HostFinding<GithubEventFacts>;

/** A finding, or that GitHub does not serve now. */
export type GithubFound = HostFound<GithubEventFacts>;

/** The repository has another name at GitHub: nothing of it is processed under the old one. */
export function movedAway({ notification, deps }: EventProcessing, name: string): GithubFinding {
  const { repository } = notification;
  deps.named?.(repository, name);
  return nothingFound(movedText(repository, name));
}
