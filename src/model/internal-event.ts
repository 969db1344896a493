/** What Gatehouse did with an item, for pipelines that start because of it: the connection `zuul`. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { ChangeKey } from './change.ts';
import type { PipelineName, ProjectKey } from './project.ts';
import type { SpanReference } from './span.ts';

/**
 * As triggers name them: made for every open change of a project of which a change was merged, or for every open change that needs a
 * change which has entered a pipeline.
 */
export type InternalEventType = 'project-change-merged' | 'parent-change-enqueued';

/** Stored in the commit in which it happened; becomes one trigger event for each change that it concerns. */
export interface InternalEvent {
  readonly uuid: Uuid;
  readonly type: InternalEventType;
  /** Of the item that was merged, or has entered: they get no event themselves. */
  readonly changes: readonly ChangeKey[];
  /** Of those changes. */
  readonly projects: readonly ProjectKey[];
  /** Where the item is. */
  readonly pipeline: PipelineName;
  /** In the order of their keys, the last change that is done; null: none is. */
  readonly after: ChangeKey | null;
  readonly queuedAt: Nanoseconds;
  /** Root of the item's trace. */
  readonly causedBy: SpanReference;
  /** Whether that trace is exported. */
  readonly sampled: boolean;
}
