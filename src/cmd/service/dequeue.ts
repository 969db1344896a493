/** Stores an operator's dequeue request for the pipeline, with its origin for the trace. */
import { leadChange } from '../../model/about-item.ts';
import { pipelineEventCodec } from '../../model/codec/records.ts';
import type { ManagementOrigin, PipelineEvent } from '../../model/event.ts';
import { EventQueue } from '../../store/event-queue.ts';
import type { Store } from '../../store/port.ts';
import type { DequeueRequest } from '../../web/deps.ts';
import type { ProcessCore } from './manage-component.ts';
import { isTraceSampled } from './span-intake.ts';

/** Resolves when the request is durable. */
export async function storeDequeue(
  { paths, clock, ids, host, tracing }: Pick<ProcessCore, 'paths' | 'clock' | 'ids' | 'host' | 'tracing'>,
  store: Store,
  { tenant, pipeline, item, by, receivedAt, context }: DequeueRequest,
): Promise<void> {
  const queue = new EventQueue<PipelineEvent>({
    store,
    path: paths.pipeline(tenant, pipeline).eventQueue,
    codec: pipelineEventCodec,
    clock,
  });
  const uuid = ids.uuid();
  const { key } = leadChange(item);
  const management: ManagementOrigin = {
    receivedAt,
    storedAt: clock.now(),
    receiver: host,
    ...(context === undefined ? {} : { caller: context.span }),
    // A command's trace includes the work it causes.
    sampled:
      context?.relation === 'parent'
        ? context.sampled && isTraceSampled(tracing, context.span.traceId)
        : tracing.isSampled(uuid),
  };
  await store.multi(queue.put({ kind: 'dequeue', uuid, change: key, by, management }));
}
