/** What the documents about a tenant are made from: its state at one moment. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { ConfigError } from '../model/config-error.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import type { ConnectionName, ProjectKey } from '../model/project.ts';
import type { SenderReport } from '../model/sender-report.ts';

export interface PipelineSnapshot {
  readonly pipeline: Pipeline;
  readonly state: PipelineState;
  /** Waiting for the pipeline's next turn. */
  readonly triggerEvents: number;
  readonly resultEvents: number;
  readonly managementEvents: number;
}

/** The delivery of spans, for the page's footer; null where tracing is off. */
export interface TracingHealth {
  /** Rows in the outbox; one holds the spans that ended in one commit. */
  readonly waiting: number;
  readonly oldestWaiting: Nanoseconds | null;
  /** By the process that sends, since it began to; null: none has told yet. */
  readonly delivered: number | null;
  /** Spans by reason, e.g. `too-old`. */
  readonly lost: { readonly [reason: string]: number };
  /** Of the last attempt; null after a success. */
  readonly problem: string | null;
  /** What that process last said, at most a second old while something happens; null: none has told yet. */
  readonly sender: SenderReport | null;
}

/** A tenant at one moment. */
export interface TenantSnapshot {
  /** In the layout's order. */
  readonly pipelines: readonly PipelineSnapshot[];
  readonly reconfiguredAt: Nanoseconds;
  readonly triggerEvents: number;
  readonly managementEvents: number;
  /** Waiting events by connection. */
  readonly connectionEvents: { readonly [connection: ConnectionName]: number };
  readonly configErrors: readonly ConfigError[];
  readonly projects: readonly {
    readonly project: ProjectKey;
    readonly canonicalName: string;
    readonly trusted: boolean;
  }[];
  readonly jobs: readonly { readonly name: string; readonly description?: string }[];
  readonly tracing: TracingHealth | null;
}
