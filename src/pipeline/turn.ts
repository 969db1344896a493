/**
 * The pure step of a pipeline: facts in, everything that follows out.
 *
 * The scheduler gathers a {@link TurnInput} from its copy of the store, calls `decideTurn` (src/pipeline/decide-turn.ts),
 * commits the {@link TurnOutput} in one fenced multi-write and only then acts. There is no I/O, no clock and no
 * randomness in this room: `now` and `ids` are inputs. Where a decision lacks a fact that must be computed elsewhere (the job
 * graph of a merged buildset), the output lists it under `needs`; the scheduler supplies it and calls again with the output's state
 * before committing, so that one turn is still one commit.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { IdMaker, Uuid } from '../lib/ids.ts';
import type { JobDecision, TurnWork } from '../model/build-set.ts';
import type { ChangeKey, ChangeRecord } from '../model/change.ts';
import type { ConfigError } from '../model/config-error.ts';
import type { Decision } from '../model/decision.ts';
import type { PipelineEvent } from '../model/event.ts';
import type { JobNode, Json } from '../model/job.ts';
import type { ProjectState } from '../model/merge.ts';
import type { Pipeline, ReportAction } from '../model/pipeline.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import type { ConnectionName, JobName, ProjectKey, TenantName } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { BuildSetResult } from '../model/results.ts';
import type { ItemIndex } from './item-index.ts';
import type { KnownSemaphores } from './semaphore-ledger.ts';

/** The facts about one change, evaluated by its driver beforehand. */
export interface ChangeFacts {
  readonly record: ChangeRecord;
  /** Of this pipeline's `require` and `reject`; `text` names the first that fails. */
  readonly requirements: {
    readonly met: boolean;
    readonly text: string;
    /** The first time at which the verdict may change by time alone; absent: none. */
    readonly recheckAt?: Nanoseconds;
  };
  /** Whether the code host would land it as this pipeline does; absent: nothing is landed, or no rule of the host is known. */
  readonly landing?: { readonly met: boolean; readonly text: string };
  /** Open changes that depend on this one. */
  readonly dependents: readonly ChangeKey[];
  /**
   * Change queue of its project and branch; one of its own where the project takes no part in the pipeline. Null: the project is
   * not in the tenant.
   */
  readonly queue: {
    readonly key: string;
    readonly name: string;
    /** Changes of it that depend on each other enter as one item. */
    readonly allowsCycles: boolean;
  } | null;
  /**
   * Its topic, where the queue or the host has changes of one land together: all open changes of it, itself among them, in a fixed
   * order. `changes` null: more than can be one item. Absent: it has none, or it does not count.
   */
  readonly topic?: { readonly name: string; readonly changes: readonly ChangeKey[] | null };
  /** The pipeline triggers on its connection (or allows others). */
  readonly connectionAllowed: boolean;
}

/** The job graph of a merged buildset, or why there is none; computed by the scheduler from the (speculative) layout. */
export type FreezeFact = {
  readonly work: readonly TurnWork[];
} & (
  | {
      readonly kind: 'frozen';
      readonly blob: string;
      readonly jobs: readonly JobNode[];
      /** Why each listed job runs or not. */
      readonly verdicts?: readonly JobDecision[];
      /** Projects the jobs need whose heads are not in the tested merge yet; empty: all there. */
      readonly missingStates: readonly ProjectState[];
    }
  | { readonly kind: 'not-in-pipeline' }
  | { readonly kind: 'misconfigured'; readonly errors: readonly [ConfigError, ...ConfigError[]] }
);

/** Facts that are recorded for traces only; no decision depends on them. */
export interface TracingFacts {
  /** Items that sampling left out may still be kept for their outcome. */
  readonly holdsBack: boolean;
  /** Whether such a job is expected to run so long that its work is in a trace of its own. */
  runsLong(project: ProjectKey, job: JobName): boolean;
}

/** All that a turn knows; the scheduler reads it under the fence (src/scheduler/turn/pipeline-turn.ts). */
export interface TurnInput {
  readonly now: Nanoseconds;
  readonly tenant: TenantName;
  readonly pipeline: Pipeline;
  /** Version of the tenant's layout. */
  readonly layoutVersion?: number;
  /** It is not in the configuration any more: its items stay in the queues they are in. */
  readonly retired?: boolean;
  /** The tenant is in shadow mode: another gate lands its changes, perhaps before their jobs are done here. Absent: we land them. */
  readonly shadowMode?: true;
  /** Undefined: no limit. */
  readonly maxChanges?: number;
  readonly maxDependencies?: number;
  readonly state: PipelineState;
  /** Enqueue events that may wait for their time in all; the rest is refused. */
  readonly mostPostponed?: number;
  /** Those that may wait for a drained queue, and for their time, in all; the rest is refused. */
  readonly mostHeld?: number;
  /** In queue order; all are consumed by the turn, except those it postpones. */
  readonly events: readonly PipelineEvent[];
  /** All changes of items and events, and their dependencies, dependents and topics, transitively. */
  readonly changes: ReadonlyMap<ChangeKey, ChangeFacts>;
  /** By buildset. */
  readonly frozen: ReadonlyMap<Uuid, FreezeFact>;
  readonly ids: IdMaker;
  /** Connections on which this pipeline's successes may land several at once; absent: none. */
  readonly landsSeveral?: ReadonlySet<ConnectionName>;
  readonly tracing?: TracingFacts;
  /** Those that jobs may take in this turn; absent: none is known. */
  readonly semaphores?: KnownSemaphores;
  /** Of the turn whose output `state` is: what has not changed since is left out. Absent: the turn looks at everything. */
  readonly memory?: TurnMemory;
}

/** What one turn leaves for the next (turn-memory.ts). Queues are named by their keys. */
export interface TurnMemory {
  /** The state that the turn ended with: the memory is of use only to a turn that begins with this very object. */
  readonly state: PipelineState;
  readonly rules: TurnRules;
  /** What was known of changes. Facts that are the same object later are the same. */
  readonly changes: TurnInput['changes'];
  /** Of the items in the state. Null: nothing was asked of it. */
  readonly index: ItemIndex | null;
  /** Something happened there in the turn. */
  readonly unsettled: ReadonlySet<string>;
  /** Items that entered, are others now, or left in the turn. */
  readonly touched: ReadonlySet<Uuid>;
  /** Jobs wait there for semaphores, or for what jobs of items elsewhere provide. */
  readonly waiting: ReadonlySet<string>;
  /** Items wait there for a code host. */
  readonly parked: ReadonlySet<string>;
}

/** What a turn decides by, apart from facts. */
type TurnRules = Pick<TurnInput, 'tenant' | 'pipeline' | 'layoutVersion' | 'retired' | 'shadowMode'>;

/**
 * An effect that the scheduler carries out with the commit of the turn: a request for a worker, a report, an event for other pipelines.
 */
export type Command =
  /** The request's inputs follow from the items (`behind` chain), see src/scheduler/turn/merge-requests.ts. */
  | { readonly kind: 'request-merge'; readonly request: Uuid; readonly item: Uuid; readonly buildset: Uuid }
  | {
      readonly kind: 'request-repo-state';
      readonly request: Uuid;
      readonly item: Uuid;
      readonly buildset: Uuid;
      readonly states: readonly ProjectState[];
    }
  | { readonly kind: 'withdraw-merger-request'; readonly request: Uuid }
  | {
      readonly kind: 'request-build';
      readonly build: Uuid;
      readonly item: Uuid;
      readonly buildset: Uuid;
      readonly job: string;
      readonly attempt: number;
      /** Of builds of changes ahead, as in `zuul.artifacts`. Absent: none. */
      readonly artifacts?: readonly Json[];
    }
  | { readonly kind: 'cancel-build'; readonly build: Uuid }
  /** It is paused, and goes on. */
  | { readonly kind: 'resume-build'; readonly build: Uuid }
  | {
      readonly kind: 'report';
      readonly report: Uuid;
      /** Absent when nothing was enqueued (a refusal that deserves an answer). */
      readonly item: Uuid | null;
      readonly action: ReportAction;
      readonly result: BuildSetResult | null;
      /** The change the report goes to, when there is no item. */
      readonly change: ChangeKey;
      /** First line of the report where the pipeline's message does not apply. */
      readonly text?: string;
      /** The turn waits for its outcome (`reporting` phase). */
      readonly awaited: boolean;
      /** It lands in one go with the items ahead of it, of which this is the report of the first. Absent: it is the first. */
      readonly together?: Uuid;
    }
  /** This change entered here: items of it in these pipelines are superseded. */
  | {
      readonly kind: 'supersede';
      readonly pipelines: readonly string[];
      readonly change: ChangeKey;
      /** The one that entered. */
      readonly item: Uuid;
    };

/** A fact that only the scheduler can compute; the next call gets it in {@link TurnInput.frozen}, by buildset. */
export type Need = {
  readonly kind: 'freeze';
  readonly item: Uuid;
  readonly buildset: Uuid;
  readonly project: ProjectKey;
};

/** An event that changes nothing: an answer that came twice, too late, or for other work. For the debug log, not for people. */
export interface IgnoredEvent {
  readonly item: Uuid;
  readonly event: Uuid;
  readonly text: string;
}

/** Everything that follows; the scheduler commits it as a whole, or nothing of it. */
export interface TurnOutput {
  /** The same object as the input's when nothing changed. */
  readonly state: PipelineState;
  readonly commands: readonly Command[];
  readonly decisions: readonly Decision[];
  /** For the turn that begins at `state`; nothing of it is stored. */
  readonly memory: TurnMemory;
  /** Empty: the turn is complete and may be committed. */
  readonly needs: readonly Need[];
  readonly ignored: readonly IgnoredEvent[];
  /** Items that left in this turn, in their final form; no longer in `state`. */
  readonly left: readonly QueueItem[];
  /** Enqueue events that are not consumed: each is given again at its time. */
  readonly postponed: ReadonlyMap<Uuid, Nanoseconds>;
  /** Semaphores whose facts a job lacked to start; the turn is to be decided again with them, and nothing of this is committed. */
  readonly unknownSemaphores: readonly string[];
}

/** A whole turn as decided; nothing of it is stored yet. */
export type WholeTurn = Omit<TurnOutput, 'needs'>;

/** Two calls of one turn as one: the second began at the state of the first, without events. */
export function joined(first: TurnOutput, second: TurnOutput): TurnOutput {
  return {
    ...first,
    state: second.state,
    memory: second.memory,
    needs: second.needs,
    commands: [...first.commands, ...second.commands],
    decisions: [...first.decisions, ...second.decisions],
    left: [...first.left, ...second.left],
    unknownSemaphores: [...first.unknownSemaphores, ...second.unknownSemaphores],
  };
}
