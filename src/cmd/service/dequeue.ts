/** An operator's wish to take a change out, on its way to the pipeline: stored, with where it came from for its trace. */
import { leadChange } from '../../model/about-item.ts';
import { pipelineEventCodec } from '../../model/codec/records.ts';
import type { ManagementOrigin, PipelineEvent } from '../../model/event.ts';
import { EventQueue } from '../../store/event-queue.ts';
import type { Store } from '../../store/port.ts';
import type { DequeueRequest } from '../../web/deps.ts';
import type { ProcessCore } from './manage-component.ts';
import { isTraceSampled } from './span-intake.ts';

/** Resolves when it is durable. */
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
    // Whoever looks at the trace of a command finds what came of it.
    sampled:
      context?.relation === 'parent'
        ? context.sampled && isTraceSampled(tracing, context.span.traceId)
        : tracing.isSampled(uuid),
  };
  await store.multi(queue.put({ kind: 'dequeue', uuid, change: key, by, management }));
}
