/**
 * Every decision about a change is one record with a reason code: enqueued, ignored, waiting for, reset by, left because.
 * Log lines, reports, pages, span attributes and `gatehouse why` all read these; nothing else explains.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { ChangeKey } from './change.ts';
import type { PipelineName, ProjectKey, TenantName } from './project.ts';

/** What was decided. A closed set: metrics, logs and pages group by it. */
export type DecisionCode =
  // an event and a pipeline
  | 'trigger-matched'
  | 'no-trigger-matched'
  | 'requirement-not-met'
  | 'cannot-land'
  | 'already-enqueued'
  | 'project-not-in-pipeline'
  | 'no-such-change'
  | 'change-not-open'
  | 'other-connection'
  | 'event-refused'
  // dependencies
  | 'too-many-dependencies'
  | 'dependency-cycle'
  | 'dependency-unresolved'
  | 'dependency-not-ready'
  | 'dependency-other-queue'
  | 'dependency-abandoned'
  | 'pipeline-full'
  /** Its queue takes nothing at an operator's request: the event waits. */
  | 'drained'
  // an item
  | 'enqueued'
  | 'enqueued-as-dependency'
  | 'enqueued-behind'
  | 'requeued'
  | 'promoted'
  /** Its failed jobs run again at a person's request. */
  | 'rerun'
  | 'moved-behind'
  | 'reset'
  | 'retry'
  | 'early-failure'
  /** A build pauses for those that depend on it, or goes on. */
  | 'pause'
  | 'waits-for-host'
  | 'host-recovered'
  | 'retest'
  | 'window-changed'
  | 'pipeline-disabled'
  | 'result-ignored'
  | 'tested-before'
  | 'reported'
  | 'not-reported'
  | 'landed-tree-differs'
  | 'left';

/** One decision about one change. Kept in the history. */
export interface Decision {
  readonly at: Nanoseconds;
  readonly code: DecisionCode;
  readonly tenant: TenantName;
  readonly pipeline: PipelineName | null;
  readonly project: ProjectKey;
  readonly change: ChangeKey;
  /** `changeText` of the change. */
  readonly changeText: string;
  readonly item: Uuid | null;
  readonly event: Uuid | null;
  /** One English sentence without a full stop, with the numbers that decided. */
  readonly text: string;
}
