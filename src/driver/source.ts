/**
 * The reading side of a connection: what an event was about, what the host says of a change now, which branches there are.
 *
 * The host is the truth and an event only a hint: `process` reads the host, compares with the driver's memory and derives
 * what happened, so that a lost, doubled or late delivery ends in the same state.
 */
import type { Change, ChangeKey, ChangeRecord } from '../model/change.ts';
import type { ConnectionEvent, TriggerEvent } from '../model/event.ts';
import type { Json } from '../model/job.ts';
import type { BranchName, CommitId, ProjectKey } from '../model/project.ts';
import type { Step } from '../model/step.ts';
import type { DriverMemory } from './driver-memory.ts';
import type { HostLater } from './host-later.ts';
import type { NewConnectionEvent } from './intake.ts';

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

/**
 * The host does not serve this lane now: a limit, an outage, a lock. It says nothing about the event, which stays in the queue and is
 * processed again; the other lanes go on.
 */
export interface ProcessedLater {
  readonly later: HostLater;
}

/**
 * What only the host knows of a branch. When it changes, the driver sends an event with `branchesChanged`. A host that neither
 * protects nor locks branches has all of them in every selection, as in Zuul.
 */
export interface BranchSelection {
  /** Without branches that the host does not protect. Default false. */
  readonly excludeUnprotected?: boolean;
  /** Without branches that the host holds read-only. Default false. */
  readonly excludeLocked?: boolean;
}

export interface Source {
  /**
   * Station 2: reads the host; must be repeatable. `projects` are those any tenant knows on this connection.
   *
   * Runs for several lanes at a time. What it remembers must belong to the event's lane: a key that another lane wrote meanwhile
   * makes the commit fail, and the event is processed again.
   *
   * @throws an error with `retryable: true` counts as {@link ProcessedLater}; any other as an event that is not understood.
   */
  process(
    event: ConnectionEvent,
    context: {
      readonly projects: ReadonlySet<ProjectKey>;
      readonly memory: DriverMemory;
      readonly signal: AbortSignal;
    },
  ): Promise<ProcessedEvent | ProcessedLater>;
  /**
   * What the event's order matters for, e.g. its repository or change: events of one lane are processed one after the other, in
   * the order they came; lanes run side by side. No such method: all events of the connection are one lane.
   */
  lane?(event: ConnectionEvent): string;
  /**
   * Within one lane, events of equal keys that wait together are answered by one `process` of the first, because it reads the
   * host as it is now. Undefined, or no such method: the event is processed by itself.
   */
  coalesceKey?(event: ConnectionEvent): string | undefined;
  /** Asks the host for a change; undefined: there is no such change. */
  fetchChange(key: ChangeKey, signal: AbortSignal): Promise<ChangeRecord | undefined>;
  /**
   * The change that the value of a `Depends-On` line names, whether it exists or not; undefined: none of this connection.
   * The host is asked only for forms that do not name the project. `projects` are those any tenant knows on this connection:
   * a change of another one is none.
   */
  changeOfUrl(
    value: string,
    projects: ReadonlySet<ProjectKey>,
    signal: AbortSignal,
  ): Promise<ChangeKey | undefined>;
  /**
   * The project's branches with their tips, proposals not among them, in the host's order.
   *
   * @param selection default: every branch. What depends on a branch's name alone is the caller's to filter.
   * @throws an error with `retryable: true` when the host does not serve.
   */
  branches(
    project: ProjectKey,
    signal: AbortSignal,
    selection?: BranchSelection,
  ): Promise<readonly { readonly branch: BranchName; readonly commit: CommitId }[]>;
  /** Message of the merge commit for a change: complete, and a function of the change alone. */
  mergeMessage(change: Change): string;
}
