import type { InternalEvent, InternalEventType } from '../../internal-event.ts';
import { change, flag, list, nullable, object, project, text, time, uuid, words } from '../schema.ts';
import { spanReferenceSchema } from './spans.ts';

const types: { readonly [type in InternalEventType]: 1 } = {
  'project-change-merged': 1,
  'parent-change-enqueued': 1,
};

/** {@link InternalEvent}, the record `internal-event`. */
export const internalEventSchema = object<InternalEvent>({
  uuid,
  type: words(types),
  changes: list(change),
  projects: list(project),
  pipeline: text,
  after: nullable(change),
  queuedAt: time,
  causedBy: spanReferenceSchema,
  sampled: flag,
});
