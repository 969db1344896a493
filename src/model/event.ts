/**
 * The path of one event, stage by stage, with the files to open on the way: those of the git driver as the example of a driver. Of
 * what is not named (queues, lanes, the fence, the commit of a turn, the protocols of the collector) the contract is enough.
 *
 *   1 receive   a webhook body or a listener's finding becomes a {@link ConnectionEvent}, stored before it is acknowledged
 *               src/web/webhook-route.ts; drivers/git/webhook.ts; src/cmd/service/webhook-intake.ts
 *                                                                               span: root `GitEvent`, ... opens
 *   2 process   the driver reads the host and turns it into {@link TriggerEvent}s; change cache refreshed
 *               src/scheduler/events/connection-events.ts → read-host.ts; drivers/git/source.ts → process-event.ts;
 *               src/scheduler/events/forward-event.ts                           root ends: forwarded, or discarded + reason
 *   3 tenant    each tenant that holds the project: reconfigure if configuration changed, match pipelines
 *               src/scheduler/tenant/tenant-events.ts → tenant-event.ts → tenant-matching.ts
 *                                                                               span: root `TenantEvent`, link to 1
 *               (a timer's tick, and what the connection zuul makes, goes to its pipeline directly: the maps of src/scheduler/timers
 *               and src/scheduler/internal)
 *   4 enqueue   {@link PipelineEvent} `enqueue`: dependencies ahead and behind, or a refusal with its reason
 *               src/scheduler/turn/pipeline-runner.ts → turn-or-retry.ts → pipeline-turn.ts → src/pipeline/decide-turn.ts → apply-events.ts
 *               → enqueue.ts → enqueue-plan.ts
 *   5 item      QueueItem and BuildSet are created in the turn's commit           span: root `QueueItem`, link to 3
 *               src/pipeline/new-item.ts; src/scheduler/turn/turn-operations.ts
 *
 *   6 merge     MergeRequest, answered by `merger-result`                         `Merge` → `MergerJob`
 *               src/scheduler/turn/pipeline-turn.ts → src/pipeline/decide-turn.ts → process-item.ts → prepare-item.ts;
 *               src/scheduler/turn/commands.ts → merge-requests.ts; src/merger/merger.ts → merge-changes.ts → fetch-state.ts;
 *               src/merger/merge-lanes.ts; src/pipeline/apply-events.ts → apply-merger-result.ts
 *   7 layout    the change's own configuration, if it brings one                  `Layout`
 *               src/scheduler/turn/pending-freezes.ts; src/layout/layout-table.ts
 *   8 freeze    job graph, immutable from here                                    `JobGraph`
 *               src/layout/freeze/freeze-item-graph.ts → freeze-job-graph.ts; src/scheduler/turn/freeze-buildset.ts
 *   9 build     BuildRequest, answered by `build-started` and `build-result`      `Build` → `JobExecution` → steps
 *               src/pipeline/start-jobs.ts; src/scheduler/turn/commands.ts → build-requests.ts; turn-operations.ts
 *
 *  10 result    window, re-parenting, cancels                                     `Build` ends
 *               src/executor/execute-build.ts; src/scheduler/turn/pipeline-turn.ts → src/pipeline/decide-turn.ts
 *               → apply-events.ts → apply-build-events.ts; process-item.ts
 *  11 report    intent, reporters, merge at the host; answered by `report-result` `Report` → one per reporter
 *               src/pipeline/report-item.ts; src/scheduler/turn/commands.ts → src/scheduler/report/report-intents.ts;
 *               src/scheduler/report/report-loop.ts → perform-report.ts → perform-part.ts; drivers/git/landing.ts → land.ts
 *  12 leave     removed from its queue; spans and history ride in the same commit ends `QueueItem`
 *               src/pipeline/apply-report-result.ts; leave-item.ts; src/scheduler/turn/turn-operations.ts
 *               → src/tracing/spans/item-spans.ts; src/store/outbox-drain.ts; src/tracing/otlp/sender.ts
 *
 * Each step from stage to stage is one multi-write that deletes the event where it was and creates it where it goes.
 *
 * The room holds readonly data and pure functions: no I/O, no clock. Its files, in an order of reading:
 *
 *     names            project.ts, change.ts, merge-text.ts, merge-mode.ts, about-item.ts, page-addresses.ts, page-place.ts
 *     configuration    layout.ts (layout-description.ts), pipeline.ts (report-messages.ts, message-fields.ts), job.ts, ansible-playbook.ts, secret.ts, keystore.ts, config-error.ts, merge-vars.ts, reserved-variables.ts, inventory-name.ts, workspace-place.ts, authorization.ts
 *     an item          queue-item.ts, build-set.ts, build.ts, returned.ts, test-results.ts, watched-tests.ts, kept-files.ts, requirement.ts, semaphore.ts, step.ts, results.ts; pipeline-state.ts has the queues, own-queues.ts, repair-queues.ts
 *                      restores them; halt.ts: what operators keep from going on
 *     its state        item-states.ts, job-standing.ts; computed from its times: work-windows.ts, lost-time.ts,
 *                      event-age.ts, earlier-reports.ts, withheld-report.ts
 *     reasons          decision.ts, cause.ts, host-trouble.ts, conflict-text.ts, not-built.ts, takeover.ts, worker-loss.ts, host-pass.ts
 *     events           event.ts, build-event.ts; our own triggers: tick.ts, internal-event.ts; what people ask for: management-event.ts, and what it would cost: act-cost.ts
 *     requests         question.ts, access-request.ts, merge.ts, build-request.ts, cancel-message.ts, report-intent.ts; what they carry: report.ts, landed.ts, notice.ts (notice-bounds.ts)
 *     machines         static-host.ts, kubernetes-pool.ts, executor-zone.ts, node-wait.ts, node-events.ts, hold-request.ts
 *     for other rooms  span.ts, history.ts, component.ts, wall.ts, connection-health.ts, sender-report.ts, trace-health.ts
 *     stored form      codec/records.ts has one codec for each record; codec/schemas/ what each may hold, codec/upgrades.ts older forms
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { BuildProgressEvent } from './build-event.ts';
import type { Change, ChangeKey } from './change.ts';
import type { HostTrouble } from './host-trouble.ts';
import type { Json } from './job.ts';
import type { Landed } from './landed.ts';
import type { ManagementEvent, ManagementOrigin, RequestedChange } from './management-event.ts';
import type { MergerOutcome } from './merge.ts';
import type {
  BranchName,
  CommitId,
  ConnectionName,
  PipelineName,
  ProjectKey,
  TenantName,
} from './project.ts';
import type { ReportRecord } from './queue-item.ts';
import type { SpanRecord, SpanReference } from './span.ts';
import type { WorkerLoss } from './worker-loss.ts';

/** Stage 1: a delivery of a code host, reduced to what the driver needs. */
export interface ConnectionEvent {
  readonly uuid: Uuid;
  readonly connection: ConnectionName;
  /** The host's id of this delivery, or one the driver derives; the same id is never processed twice. */
  readonly deliveryId: string;
  /** The host's event name, e.g. `push`, `pull_request`, `refs-changed`. */
  readonly type: string;
  readonly payload: Json;
  /** When the first byte of it reached us. */
  readonly receivedAt: Nanoseconds;
  /** When it was handed to the store. */
  readonly storedAt: Nanoseconds;
  /** Machine of the web that took it in; absent: a scheduler polled the host, or it is not recorded. */
  readonly receiver?: string;
  /** When it happened, by the host's clock; absent: the host does not say. For traces and metrics alone. */
  readonly madeAt?: Nanoseconds;
  /** How it was found, in the driver's words, e.g. `stream`, `catch-up`; absent: by a webhook where there is a receiver, else by the listener. */
  readonly foundBy?: string;
  /** Account by which the host granted the delivery; absent: it has none, or does not say. */
  readonly installation?: string;
  /** What happened to the thing the event is named for, in the host's word, e.g. `labeled`; absent: its name says all. For traces alone. */
  readonly action?: string;
  readonly sampled: boolean;
}

/** Stage 2: something happened to a change or a ref. */
export interface TriggerEvent {
  /** Also the trace id of the ingestion trace; follows from the connection event's uuid and an ordinal. */
  readonly uuid: Uuid;
  readonly connection: ConnectionName;
  readonly driver: string;
  /** The driver's event name as used in `trigger:`, e.g. `proposed`, `approved`, `abandoned`, `ref-updated`. */
  readonly type: string;
  readonly project: ProjectKey;
  readonly branch: BranchName | null;
  /** Full ref; null when the event is not about a ref. */
  readonly ref: string | null;
  readonly change: Change;
  /** Of the commit a branch went to, where the driver knows it: by it a commit that the host made for us is recognised. */
  readonly tree?: string;
  /** What trigger filters look at besides (comment text, approvals, account): read by the driver's own parser alone. */
  readonly facts: Json;
  /**
   * Name of the report of ours that it shows: of one check, vote or label always the same. The driver sets it also where the host does
   * not say who set a label or vote. Absent: another did something.
   */
  readonly ownReport?: string;
  /** With `ownReport`: events of that name, this one included, with nothing but reports of ours in between. Drivers leave it out. */
  readonly ownReportsInARow?: number;
  /** Branches of which the configuration may have changed: the tenant reconfigures before it forwards. */
  readonly configMayHaveChanged: readonly BranchName[];
  /** The branch was created or deleted: the list of branches is read again. */
  readonly branchesChanged: boolean;
  readonly receivedAt: Nanoseconds;
  readonly sampled: boolean;
  /** W3C trace state of all traces it leads to; absent: none. */
  readonly traceState?: string;
  /** Not sampled, but an item it leads to may be kept: its trace, and in the queue of a pipeline that of the tenant's event. */
  readonly heldSpans?: readonly SpanRecord[];
  readonly span: SpanReference;
}

/** Stage 3: in the queue of one tenant. */
export type TenantEvent =
  | {
      readonly kind: 'trigger';
      /** Its trace id. */
      readonly uuid: Uuid;
      readonly tenant: TenantName;
      readonly trigger: TriggerEvent;
      readonly queuedAt: Nanoseconds;
    }
  /** The driver has seen the project for the first time: its configuration is compared with the one read before. */
  | {
      readonly kind: 'first-look';
      readonly uuid: Uuid;
      readonly tenant: TenantName;
      readonly project: ProjectKey;
      /** Present: our own merge changed the configuration; the event does not depend on a delivery of the host. */
      readonly landed?: { readonly branch: BranchName; readonly commit: CommitId };
      readonly queuedAt: Nanoseconds;
      readonly origin?: EventOrigin;
    }
  /** The state of a change differs and no trigger covers it (an approval was withdrawn). */
  | {
      readonly kind: 'updated';
      readonly uuid: Uuid;
      readonly tenant: TenantName;
      readonly project: ProjectKey;
      readonly change: ChangeKey;
      readonly queuedAt: Nanoseconds;
      readonly origin?: EventOrigin;
    }
  /** A person asked at the code host to remove a change from pipelines. */
  | {
      readonly kind: 'dequeue';
      readonly uuid: Uuid;
      readonly tenant: TenantName;
      readonly change: ChangeKey;
      /** Absent: every pipeline. */
      readonly pipeline?: PipelineName;
      /** Only this item; absent: every item of the change. */
      readonly item?: Uuid;
      readonly by: string;
      /** When the host's delivery reached us. */
      readonly receivedAt: Nanoseconds;
      readonly queuedAt: Nanoseconds;
      readonly origin: EventOrigin;
    }
  /** A person asked at the code host to move a change to the head of its queue. */
  | {
      readonly kind: 'promote';
      readonly uuid: Uuid;
      readonly tenant: TenantName;
      readonly change: ChangeKey;
      /** Absent: every pipeline with queues of which the order counts. */
      readonly pipeline?: PipelineName;
      readonly by: string;
      /** When the host's delivery reached us. */
      readonly receivedAt: Nanoseconds;
      readonly queuedAt: Nanoseconds;
      readonly origin: EventOrigin;
    }
  /** An operator asked for a change, or for a ref, to enter a pipeline. */
  | {
      readonly kind: 'enqueue';
      /** Also of the pipeline's event, and its trace id. */
      readonly uuid: Uuid;
      readonly tenant: TenantName;
      readonly pipeline: PipelineName;
      readonly wanted: RequestedChange;
      readonly by: string;
      readonly queuedAt: Nanoseconds;
      readonly management: ManagementOrigin;
    };

/** The event from which an event of our own follows. */
export interface EventOrigin {
  /** Root of its trace. */
  readonly span: SpanReference;
  readonly sampled: boolean;
}

/** Stages 4 to 12: what a pipeline's turn consumes, in order. */
export type PipelineEvent =
  | {
      readonly kind: 'enqueue';
      readonly uuid: Uuid;
      readonly trigger: TriggerEvent;
      readonly tenantSpan: SpanReference;
      /** The filter that matched, in one line written by the driver. */
      readonly matched: string;
      /** An operator asked for it: neither filters nor requirements count for the change itself. Absent: a trigger matched. */
      readonly request?: { readonly by: string; readonly management: ManagementOrigin };
    }
  /** The host's state of this change differs now; items with the change are checked again. */
  | {
      readonly kind: 'change-updated';
      readonly uuid: Uuid;
      readonly change: ChangeKey;
      /** The event that the update came from; absent: not recorded. */
      readonly origin?: EventOrigin & { readonly queuedAt: Nanoseconds };
    }
  | {
      readonly kind: 'merger-result';
      readonly uuid: Uuid;
      readonly item: Uuid;
      readonly buildset: Uuid;
      readonly request: Uuid;
      readonly at: Nanoseconds;
      readonly outcome: MergerOutcome;
      /** Mergers that were lost over the request before, oldest first; absent: none, as far as is known. */
      readonly losses?: readonly WorkerLoss[];
    }
  | BuildProgressEvent
  | {
      readonly kind: 'report-result';
      readonly uuid: Uuid;
      readonly item: Uuid;
      readonly report: Uuid;
      readonly at: Nanoseconds;
      readonly outcome: ReportOutcome;
      readonly parts: NonNullable<ReportRecord['done']>['parts'];
    }
  /** The change entered a pipeline that supercedes this one. */
  | {
      readonly kind: 'superseded';
      readonly uuid: Uuid;
      readonly change: ChangeKey;
      readonly by: PipelineName;
      readonly internal?: InternalOrigin;
    }
  | ManagementEvent;

/** Our own action that led to an event; the event's trace links to its cause. */
interface InternalOrigin {
  readonly queuedAt: Nanoseconds;
  /** Root of the item that caused it. */
  readonly causedBy: SpanReference;
  readonly sampled: boolean;
}

/** The result of performing a report intent: the turn decides by it how the item goes on. */
export type ReportOutcome =
  /** Every reporter did its part. */
  | {
      readonly kind: 'done';
      /** What the branches hold now, as the host reported it; empty without a merging reporter. */
      readonly landed: Landed;
    }
  /** Host trouble: nothing is known to have changed. Tried again. */
  | { readonly kind: 'host'; readonly trouble: HostTrouble }
  /** The branch is not where the test began: test again. */
  | { readonly kind: 'base-moved'; readonly text: string }
  /** Nothing was sent: the change's project has left the tenant, and the tested commit is not in the branch; or what was to land before it did not. */
  | { readonly kind: 'withdrawn'; readonly text: string }
  /**
   * Nothing was sent: the tenant is in shadow mode. `lands`: it would have landed the item's changes. `message`: the report's text,
   * perhaps cut.
   */
  | { readonly kind: 'withheld'; readonly lands: boolean; readonly message: string }
  /** The host will not merge it. */
  | { readonly kind: 'not-merged'; readonly text: string }
  /** A reporter that does not merge gave up; the item's result stands. */
  | { readonly kind: 'failed'; readonly text: string };
