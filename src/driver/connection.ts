/**
 * An open connection to one code host.
 *
 * Life: `connect` → any number of calls → `close`. `listen` runs only in the process that was elected for it; every other
 * method may be called in any process. Nothing here decides or writes state: what a method finds goes into the store with
 * the caller's commit.
 *
 * Errors: expected ones are in the returned unions. Everything else throws and is retried by the caller's loop with
 * back-off, so methods must be repeatable.
 */

import type { RepositoryCache } from '../git/repository-cache.ts';
import type { Clock } from '../lib/clock.ts';
import type { Change, ChangeKey, ChangeRecord } from '../model/change.ts';
import type { ConnectionEvent, ReportOutcome, TriggerEvent } from '../model/event.ts';
import type { Json } from '../model/job.ts';
import type { ReportAction } from '../model/pipeline.ts';
import type { BranchName, CommitId, ConnectionName, ProjectKey } from '../model/project.ts';
import type { Step } from '../model/step.ts';

export interface ConnectionDeps {
  readonly clock: Clock;
  readonly log: DriverLog;
  /** Mirrors shared with the merger of this machine: what one has fetched the other finds. */
  readonly repositories: RepositoryCache;
}

export interface DriverLog {
  debug(facts: object, text: string): void;
  info(facts: object, text: string): void;
  warn(facts: object, text: string): void;
}

/** Where git finds a project. */
export interface GitRemote {
  readonly url: string;
  /** Added to git's environment, e.g. `GIT_SSH_COMMAND`; never shown. */
  readonly environment: { readonly [name: string]: string };
}

export interface Connection {
  readonly name: ConnectionName;
  readonly driver: string;
  /** Host part of canonical project names; place of checkouts below `src/`. */
  readonly canonicalHostname: string;
  remote(project: ProjectKey): GitRemote;
  readonly source: Source;
  readonly listener?: Listener;
  readonly webhook?: WebhookIntake;
  readonly reporter?: Reporter;
  close(): Promise<void>;
}

/** The driver's own durable memory, kept by the caller in the store: small values under short keys. */
export interface DriverMemory {
  get(key: string): Promise<Json | undefined>;
}

/** What processing one connection event came to; committed as a whole with the event's acknowledgement. */
export interface ProcessedEvent {
  /** In the order things happened at the host. Empty: the event is discarded, for `discarded` says why. */
  readonly events: readonly TriggerEvent[];
  /** Entries for the change cache, of the events' changes and any other that became known. */
  readonly changes: readonly ChangeRecord[];
  /** Changes about which something is different although no event says so (an approval withdrawn). */
  readonly updated: readonly ChangeKey[];
  readonly memory: readonly { readonly key: string; readonly value: Json }[];
  readonly discarded?: string;
  /** Projects seen for the first time: branches that moved since their configuration was read were told of by nobody. */
  readonly firstLooks?: readonly ProjectKey[];
  /** What the host was asked, each with its time (kind `HostQuery`): shown below `EventProcess`. */
  readonly queries?: readonly Step[];
  /** There is more at the host than was taken in: the event that asks for the rest, stored in the same commit. */
  readonly again?: NewConnectionEvent;
  /** Things people did that had no effect, with the reason (an approval of an old commit): shown in `why` and in the trace. */
  readonly refusals: readonly { readonly change: Change; readonly text: string }[];
}

export interface Source {
  /** Station 2: reads the host; must be repeatable. `projects` are those any tenant knows on this connection. */
  process(
    event: ConnectionEvent,
    context: {
      readonly projects: ReadonlySet<ProjectKey>;
      readonly memory: DriverMemory;
      readonly signal: AbortSignal;
    },
  ): Promise<ProcessedEvent>;
  /**
   * Events of equal keys that wait together are answered by one `process` of the first, because it reads the host as it is
   * now. Undefined, or no such method: the event is processed by itself.
   */
  coalesceKey?(event: ConnectionEvent): string | undefined;
  /** Asks the host for a change; undefined: there is no such change. */
  fetchChange(key: ChangeKey, signal: AbortSignal): Promise<ChangeRecord | undefined>;
  /** Open changes known to depend on this one (git children, reverse `Depends-On`). */
  dependentsOf(change: Change, known: readonly ChangeRecord[]): readonly ChangeKey[];
  branches(
    project: ProjectKey,
    signal: AbortSignal,
  ): Promise<readonly { readonly branch: BranchName; readonly commit: CommitId }[]>;
  /** Message of the merge commit for a change: complete, and a function of the change alone. */
  mergeMessage(change: Change): string;
}

/** Watches the host for news; puts what it finds through `emit`, which returns after the event is durable. */
export interface Listener {
  listen(deps: {
    readonly emit: (event: NewConnectionEvent) => Promise<void>;
    readonly projects: () => ReadonlySet<ProjectKey>;
    readonly memory: DriverMemory;
    readonly signal: AbortSignal;
  }): Promise<void>;
}

export type NewConnectionEvent = Pick<ConnectionEvent, 'deliveryId' | 'type' | 'payload'>;

export type WebhookVerdict =
  | { readonly kind: 'accepted'; readonly event: NewConnectionEvent }
  /** Understood and of no interest: answered 202. */
  | { readonly kind: 'ignored'; readonly reason: string }
  | { readonly kind: 'refused'; readonly status: 400 | 401 | 413 | 415; readonly reason: string };

export interface WebhookIntake {
  /** Bytes of the largest body; more is refused before it is read. */
  readonly maxBytes: number;
  /** Accepted webhooks per second, ten times as many in a burst; past that the host is asked to come again later. */
  readonly ratePerSecond: number;
  /** Pure: checks the signature over the raw bytes, then the shape. */
  verify(
    headers: { readonly [name: string]: string | readonly string[] | undefined },
    body: Uint8Array,
  ): WebhookVerdict;
}

/** What a reporter is asked to say, or to do. */
export interface ReportRequest {
  readonly action: ReportAction;
  /** As `parseReporter` returned it. */
  readonly config: Json;
  readonly change: Change;
  readonly tenant: string;
  readonly pipeline: string;
  readonly item: string;
  /** Complete text for people, several lines. */
  readonly message: string;
  readonly result: string;
  /** Page of the item or buildset. */
  readonly url: string;
  /** What was tested for the change's project and branch; absent for reports before the end and for ref updates. */
  readonly tested?: { readonly base: CommitId; readonly commit: CommitId; readonly before: CommitId };
}

export interface Reporter {
  /**
   * Says it, and for a merging reporter lands exactly `tested.commit`. Must be repeatable: a call after a crash first
   * asks the host whether the deed is done already.
   *
   * @param mayAct to be asked directly before each change at the host: false when another process may be acting in our
   *   place. Absent: always true.
   * @throws when the host cannot be reached, or when it may not act: the caller retries with back-off if it still may. The
   *   error has `unsettled: true` when a landing was sent and its outcome is not known.
   */
  report(request: ReportRequest, signal: AbortSignal, mayAct?: () => boolean): Promise<ReportOutcome>;
  /**
   * Whether what the request would land is in the branch; changes nothing. No such method: the driver lands nothing.
   *
   * @throws when the host cannot be reached.
   */
  hasLanded?(request: ReportRequest, signal: AbortSignal): Promise<boolean>;
}
