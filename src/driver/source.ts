/**
 * The reading side of a connection: what an event is about, what the host says of a change now, which branches there are.
 *
 * An event is only a hint: `process` reads the host, compares with the driver's memory and derives what happened, so that a
 * lost, doubled or late delivery ends in the same state.
 */
import type { Uuid } from '../lib/ids.ts';
import type { Change, ChangeKey, ChangeRecord, ProposedChange } from '../model/change.ts';
import type { ConnectionEvent, TriggerEvent } from '../model/event.ts';
import type { Json } from '../model/job.ts';
import type { BranchName, CommitId, PipelineName, ProjectKey, TenantName } from '../model/project.ts';
import type { Step } from '../model/step.ts';
import type { DriverMemory } from './driver-memory.ts';
import type { HostLater } from './host-later.ts';
import type { HostSteps } from './host-steps.ts';
import type { NewConnectionEvent } from './intake.ts';

/**
 * The result of processing one connection event. The caller commits it as a whole, with the event's acknowledgement: it has to fit into
 * a commit of a megabyte with the traces of its events. One that does not is an event that cannot be processed; `again` reads the rest.
 */
export interface ProcessedEvent {
  /** In the order things happened at the host. Empty: the event is discarded, and `discarded` says why. */
  readonly events: readonly TriggerEvent[];
  /** Entries for the change cache: the events' changes, and any others that were read. */
  readonly changes: readonly ChangeRecord[];
  /** Changes whose record changed without an event of their own (an approval was withdrawn). */
  readonly updated: readonly ChangeKey[];
  /** Items that people asked at the host to remove, and were allowed to: a button, a command in a comment. At most 50 count. */
  readonly dequeues?: readonly HostDequeue[];
  /** Changes that people asked at the host to move to the head of their queue, and were allowed to. At most 50 count. */
  readonly promotes?: readonly HostPromote[];
  /**
   * Changes of which people asked at the host why they are, or are not, in a pipeline, and were allowed to. Stored with the event, and
   * answered by the connection's `answerer`; without one they are dropped. At most 5 count.
   */
  readonly questions?: readonly Pick<HostPromote, 'change' | 'by'>[];
  /** What to remember, each value in place of the one before. Undefined: what was remembered under the key is forgotten. */
  readonly memory: readonly { readonly key: string; readonly value: Json | undefined }[];
  /** One clause for people. */
  readonly discarded?: string;
  /** How it was found, where only the connection knows: in place of the event's own `foundBy`. One word, e.g. `redelivery`. */
  readonly foundBy?: string;
  /** Projects read for the first time: no event announces branches that moved since their configuration was read. */
  readonly firstLooks?: readonly ProjectKey[];
  /** `HostQuery` and `HostWait` steps: spans below `EventProcess`. Bounded as {@link HostSteps}. */
  readonly queries?: readonly Step[];
  /** Not all changes at the host fit into this result: the event that reads the rest, stored in the same commit. */
  readonly again?: NewConnectionEvent;
  /** Actions of people without effect, with the reason (an approval of an old commit): shown by `gatehouse why` and in the trace. */
  readonly refusals: readonly { readonly change: Change; readonly text: string }[];
}

/** A person's request at the host to remove a change from pipelines; without `pipeline` and `item` from all of them. */
export interface HostDequeue {
  readonly change: ChangeKey;
  /** Absent: every tenant that holds the change's project. */
  readonly tenant?: TenantName;
  /** Absent: every pipeline of the tenant. */
  readonly pipeline?: PipelineName;
  /** Only this item: of one that is gone by now nothing is removed. */
  readonly item?: Uuid;
  /** Who asked, as the host names them. */
  readonly by: string;
}

/** A person's request at the host to move a change to the head of its queue in dependent pipelines. */
export type HostPromote = Omit<HostDequeue, 'item'>;

/**
 * The host does not serve this lane now: a limit, an outage, a lock. The event stays in the queue and is processed again; other
 * lanes go on.
 */
export interface ProcessedLater extends HostSteps {
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

/** `isMore`: the host has others. */
export interface FoundChanges {
  readonly changes: readonly ChangeKey[];
  readonly isMore: boolean;
}

/** The capability to read the host. Every connection has it. */
export interface Source {
  /**
   * Reads the host and derives events. Repeatable, and runs for several lanes at a time. A memory key must belong to one lane:
   * when another lane wrote it meanwhile, the commit fails and the event is processed again.
   *
   * @param context `projects`: those any tenant has on this connection. `record`: what the change cache holds, which a host need not be
   *   asked for where it cannot differ any more.
   * @throws an error with `retryable: true` counts as {@link ProcessedLater}, any other as an event that cannot be processed.
   */
  process(
    event: ConnectionEvent,
    context: {
      readonly projects: ReadonlySet<ProjectKey>;
      readonly memory: DriverMemory;
      readonly record: (key: ChangeKey) => ChangeRecord | undefined;
      readonly signal: AbortSignal;
    },
  ): Promise<ProcessedEvent | ProcessedLater>;
  /**
   * The event's lane, e.g. its repository or change. Events of one lane are processed in the order in which they came; lanes run
   * side by side. Without this method the connection is one lane.
   */
  lane?(event: ConnectionEvent): string;
  /**
   * Events of one lane that wait together with equal keys are answered by one `process` of the first, because it reads the host
   * as it is now. Undefined, or without this method: the event is processed by itself.
   */
  coalesceKey?(event: ConnectionEvent): string | undefined;
  /**
   * Whether such events come in storms. After the read of one its lane rests until no further event comes for a second, for 15 s
   * at most, so that one read answers what came meanwhile. Without this method: none does.
   */
  comesInStorms?(event: ConnectionEvent): boolean;
  /** Reads a change at the host; undefined: there is no such change. @throws when the host does not serve. */
  fetchChange(key: ChangeKey, signal: AbortSignal): Promise<ChangeRecord | undefined>;
  /**
   * The change that the value of a `Depends-On` line names, whether it exists or not; undefined: none of this connection. The
   * driver asks the host only for forms that do not name the project.
   *
   * @param projects those any tenant has on this connection: changes of others do not count.
   */
  changeOfUrl(
    value: string,
    projects: ReadonlySet<ProjectKey>,
    signal: AbortSignal,
  ): Promise<ChangeKey | undefined>;
  /**
   * Open changes of a topic, of every project that the host shows us, in its order. Without this method the host has no topics.
   *
   * @param most further ones need not be read; `isMore` says that there are some.
   * @throws when the host does not serve.
   */
  changesOfTopic?(topic: string, most: number, signal: AbortSignal): Promise<FoundChanges>;
  /**
   * Open changes of a project, those that no event was about among them; bounded as those of a topic. Without this method its events name
   * all of them.
   *
   * @throws when the host does not serve.
   */
  openChanges?(project: ProjectKey, most: number, signal: AbortSignal): Promise<FoundChanges>;
  /**
   * The project's branches with their tips, in the host's order; proposals and what the host makes for itself (merge groups) are not
   * among them.
   *
   * @param selection default: every branch. What depends on a branch's name alone is the caller's to filter.
   * @throws an error with `retryable: true` when the host does not serve.
   */
  branches(
    project: ProjectKey,
    signal: AbortSignal,
    selection?: BranchSelection,
  ): Promise<readonly { readonly branch: BranchName; readonly commit: CommitId }[]>;
  /** The complete message of a merge commit for the change; a function of the change alone. */
  mergeMessage(change: ProposedChange): string;
}
