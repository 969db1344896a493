/** A tenant's state at one moment, from which its documents are encoded. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { ConfigError } from '../model/config-error.ts';
import type { LabelNames } from '../model/layout.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import type { ConnectionName, ProjectKey } from '../model/project.ts';
import type { SemaphoreRule } from '../model/semaphore.ts';
import type { SenderReport } from '../model/sender-report.ts';

/** A pipeline's configuration, state and queue lengths at one moment. */
export interface PipelineSnapshot {
  readonly pipeline: Pipeline;
  readonly state: PipelineState;
  /** Waiting for the pipeline's next turn. */
  readonly triggerEvents: number;
  /** Zuul counts them separately; here 0, as is `managementEvents`: all events wait in one queue. */
  readonly resultEvents: number;
  readonly managementEvents: number;
}

/** State of the span delivery, shown in the page's header. */
export interface TracingHealth {
  /** Rows in the outbox; each holds the spans that ended in one commit. */
  readonly waiting: number;
  /** Since when the oldest row has waited; null: none waits. */
  readonly oldestWaiting: Nanoseconds | null;
  /** Spans sent by the current sender since it began; null: no sender has reported yet. */
  readonly delivered: number | null;
  /** Spans by reason, e.g. `too-old`. */
  readonly lost: { readonly [reason: string]: number };
  /** Why spans are not delivered, for people; null: they are. */
  readonly problem: string | null;
  /** Last report of the sender, at most a second old while spans are sent; null: no sender has reported yet. */
  readonly sender: SenderReport | null;
}

/** What a code host does not do for the tenant's pipelines, until an operator mends it. */
interface SnapshotFault {
  readonly connection: ConnectionName;
  /** Its name at the host; null: the connection as a whole. */
  readonly project: string | null;
  readonly severity: 'error' | 'warning';
  readonly text: string;
}

/** A tenant at one moment. */
export interface TenantSnapshot {
  /** In the layout's order. */
  readonly pipelines: readonly PipelineSnapshot[];
  /** When the present layout was made. */
  readonly reconfiguredAt: Nanoseconds;
  /** Events of the tenant that are not forwarded to its pipelines yet. */
  readonly triggerEvents: number;
  readonly managementEvents: number;
  /** Waiting events by connection. */
  readonly connectionEvents: { readonly [connection: ConnectionName]: number };
  /** Errors and warnings of the present layout. */
  readonly configErrors: readonly ConfigError[];
  /** What code hosts refuse to pipelines of the tenant. */
  readonly hostFaults: readonly SnapshotFault[];
  readonly projects: readonly {
    readonly project: ProjectKey;
    readonly canonicalName: string;
    readonly trusted: boolean;
  }[];
  /** Defined ones. */
  readonly semaphores: readonly ({ readonly name: string } & SemaphoreRule)[];
  readonly jobs: readonly { readonly name: string }[];
  /** What its jobs may ask for. Absent: not known. */
  readonly labels?: LabelNames;
  /** Null: tracing is off. */
  readonly tracing: TracingHealth | null;
}
