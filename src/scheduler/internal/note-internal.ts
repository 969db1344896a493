/**
 * The connection `zuul`: pipelines that start because of what Gatehouse did with a change.
 *
 *     note-internal.ts      in the commit of a pipeline's turn: an item has entered, or was merged → one small record
 *     forward-internal.ts   in the tenant's holder: a record → an event for each change that it concerns
 *
 * A turn writes a record only while some pipeline of the tenant waits for it, and looks up no changes.
 */
import { takesInternal } from '../../layout/build/zuul-trigger.ts';
import type { Nanoseconds } from '../../lib/clock.ts';
import type { IdMaker } from '../../lib/ids.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { InternalEvent, InternalEventType } from '../../model/internal-event.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import type { PipelineName } from '../../model/project.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { EventQueue } from '../../store/event-queue.ts';
import type { Operation } from '../../store/port.ts';
import { rootSpanOf } from '../../tracing/span-ids.ts';
import type { ChangedTurn } from '../turn/changed-items.ts';
import { landedItems } from '../turn/note-landed.ts';

/** Of one pipeline. */
export interface NoteInternalDeps {
  readonly pipeline: Pick<Pipeline, 'name'>;
  readonly ids: IdMaker;
  readonly internalEvents: Pick<EventQueue<InternalEvent>, 'put'>;
  /** Some pipeline of the tenant starts because of it. */
  readonly isAwaited: (type: InternalEventType) => boolean;
}

/** @param pipeline where it would happen. */
export function awaitedTypes(
  pipelines: ReadonlyMap<PipelineName, Pipeline>,
  pipeline: PipelineName,
): ReadonlySet<InternalEventType> {
  const types: readonly InternalEventType[] = ['project-change-merged', 'parent-change-enqueued'];
  return new Set(
    types.filter(type =>
      pipelines.values().some(each => takesInternal(each, { type, pipeline }) !== undefined),
    ),
  );
}

/** @param now time of the commit. */
export function internalEventOperations(
  state: PipelineState,
  { changed, left }: Pick<ChangedTurn, 'changed' | 'left'>,
  events: readonly PipelineEvent[],
  deps: NoteInternalDeps,
  now: Nanoseconds,
): readonly Operation[] {
  const put = (type: InternalEventType, { uuid, changes, sampled }: QueueItem) => {
    const proposed = changes.filter(({ kind }) => kind === 'change');
    if (proposed.length === 0) return [];
    return deps.internalEvents.put({
      ...{ uuid: deps.ids.uuid(), type, pipeline: deps.pipeline.name },
      changes: proposed.map(({ key }) => key),
      projects: [...new Set(proposed.map(({ project }) => project))],
      ...{ after: null, queuedAt: now, causedBy: rootSpanOf(uuid), sampled },
    });
  };
  const entered = deps.isAwaited('parent-change-enqueued')
    ? [...changed, ...left].filter(({ uuid, role }) => role === 'live' && !state.items.has(uuid))
    : [];
  const merged = deps.isAwaited('project-change-merged') ? landedItems(state, events) : [];
  return [
    ...merged.flatMap(({ item }) => put('project-change-merged', item)),
    ...entered.flatMap(item => put('parent-change-enqueued', item)),
  ];
}
