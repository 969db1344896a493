/** A web process: what the webhook route and the dequeue button do with the store, without HTTP. */
import type { NewConnectionEvent } from '../../../src/driver/intake.ts';
import type { ChangeKey } from '../../../src/model/change.ts';
import { connectionEventCodec, pipelineEventCodec } from '../../../src/model/codec/records.ts';
import type { ConnectionEvent, PipelineEvent } from '../../../src/model/event.ts';
import { EventQueue } from '../../../src/store/event-queue.ts';
import { isSampled } from '../../../src/tracing/sampling.ts';
import { CONNECTION } from '../host/host-git.ts';
import type { Incarnation } from '../kernel/incarnation.ts';
import type { ProcessParts } from './parts.ts';

/** What the world can ask of a running web process. */
export interface WebDoor {
  webhook(event: NewConnectionEvent): Promise<'stored' | 'duplicate'>;
  dequeue(pipeline: string, change: ChangeKey): Promise<void>;
  promote(pipeline: string, change: ChangeKey): Promise<void>;
}

export async function runWeb(life: Incarnation, parts: ProcessParts, stop: AbortSignal): Promise<void> {
  const { paths } = parts;
  const store = parts.connect(life);
  const { clock } = life;
  const places = paths.connection(CONNECTION);
  const intake = new EventQueue<ConnectionEvent>({
    store,
    path: places.queue,
    seenPath: places.seen,
    codec: connectionEventCodec,
    clock,
  });
  await intake.prepare(stop);
  const request = async (pipeline: string, event: PipelineEvent) => {
    const path = paths.pipeline(parts.tenant, pipeline).eventQueue;
    const queue = new EventQueue<PipelineEvent>({ store, path, codec: pipelineEventCodec, clock });
    await store.multi(queue.put(event));
  };
  parts.openDoor(life, {
    async webhook(event) {
      const now = clock.now();
      const uuid = life.ids.uuid();
      const received = {
        uuid,
        connection: CONNECTION,
        ...event,
        receivedAt: now,
        storedAt: now,
        sampled: isSampled(uuid, parts.tracing.ratio),
      };
      return await intake.offer(received, event.deliveryId);
    },
    async dequeue(pipeline, change) {
      const uuid = life.ids.uuid();
      await request(pipeline, { kind: 'dequeue', uuid, change, by: 'the simulation' });
    },
    async promote(pipeline, change) {
      const uuid = life.ids.uuid();
      await request(pipeline, { kind: 'promote', uuid, changes: [change], by: 'the simulation' });
    },
  });
  await new Promise<void>(resolve => stop.addEventListener('abort', () => resolve(), { once: true }));
  await store.close();
}
