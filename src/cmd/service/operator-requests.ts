/** Stores an operator's request about items for their pipeline, with its origin for the trace. */
import type { Uuid } from '../../lib/ids.ts';
import { leadChange } from '../../model/about-item.ts';
import { pipelineEventCodec } from '../../model/codec/records.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { ManagementOrigin } from '../../model/management-event.ts';
import { promotes } from '../../pipeline/manager/managers.ts';
import { EventQueue } from '../../store/event-queue.ts';
import type { Store } from '../../store/port.ts';
import type { LiveTracing } from '../../tracing/live-tracing.ts';
import type {
  DequeueRequest,
  HaltRequest,
  OperatorRequest,
  PromoteRequest,
  RerunRequest,
} from '../../web/deps.ts';
import type { ProcessCore } from './manage-component.ts';
import { isTraceSampled } from './span-intake.ts';

/** Parts of the process that a request is stored with. */
export type RequestCore = Pick<ProcessCore, 'paths' | 'clock' | 'ids' | 'host'> & {
  readonly tracing: Pick<LiveTracing, 'isSampled'>;
};

/** Resolves when the request is durable. */
export async function storeDequeue(core: RequestCore, store: Store, request: DequeueRequest): Promise<void> {
  const { key } = leadChange(request.item);
  await storeRequest(core, store, request, origin => ({ kind: 'dequeue', change: key, ...origin }));
}

/** Resolves when the request is durable. @returns false: items of the pipeline cannot be promoted, and nothing is stored. */
export async function storePromote(
  core: RequestCore,
  store: Store,
  { pipeline, items, ...request }: PromoteRequest,
): Promise<boolean> {
  if (!promotes(pipeline.manager)) return false;
  const changes = items.map(item => leadChange(item).key);
  const of = { ...request, pipeline: pipeline.name };
  await storeRequest(core, store, of, origin => ({ kind: 'promote', changes, ...origin }));
  return true;
}

/** Resolves when the request is durable. */
export async function storeRerun(core: RequestCore, store: Store, request: RerunRequest): Promise<void> {
  const { uuid: item } = request.item;
  const { key: change } = leadChange(request.item);
  await storeRequest(core, store, request, origin => ({ kind: 'rerun', item, change, ...origin }));
}

/** Resolves when the request is durable. */
export async function storeHalt(core: RequestCore, store: Store, request: HaltRequest): Promise<void> {
  const { queue, wanted, reason } = request;
  await storeRequest(core, store, request, origin => ({ kind: 'halt', queue, wanted, reason, ...origin }));
}

/** What the event of a request has besides the request. */
export interface RequestOrigin {
  readonly uuid: Uuid;
  readonly by: string;
  readonly management: ManagementOrigin;
}

async function storeRequest(
  core: RequestCore,
  store: Store,
  request: OperatorRequest & { readonly pipeline: string },
  eventOf: (origin: RequestOrigin) => PipelineEvent,
): Promise<void> {
  const { paths, clock } = core;
  const path = paths.pipeline(request.tenant, request.pipeline).eventQueue;
  const queue = new EventQueue<PipelineEvent>({ store, path, codec: pipelineEventCodec, clock });
  await store.multi(queue.put(eventOf(requestOrigin(core, request))));
}

/** With the decision whether its trace is exported. */
export function requestOrigin(
  { clock, ids, host, tracing }: RequestCore,
  { by, receivedAt, context }: OperatorRequest,
): RequestOrigin {
  const uuid = ids.uuid();
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
  return { uuid, by, management };
}
