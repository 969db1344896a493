/** A web process: what the webhook route and the routes of operators do with the store, without HTTP. */
import { requestOrigin, storeHalt, storeRerun } from '../../../src/cmd/service/operator-requests.ts';
import type { NewConnectionEvent } from '../../../src/driver/intake.ts';
import type { Uuid } from '../../../src/lib/ids.ts';
import { leadChange } from '../../../src/model/about-item.ts';
import type { ChangeKey } from '../../../src/model/change.ts';
import {
  connectionEventCodec,
  pipelineEventCodec,
  queueItemCodec,
  tenantEventCodec,
} from '../../../src/model/codec/records.ts';
import type { ConnectionEvent, PipelineEvent, TenantEvent } from '../../../src/model/event.ts';
import type { HaltMode } from '../../../src/model/halt.ts';
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
  enqueue(pipeline: string, change: ChangeKey): Promise<void>;
  /** The failed jobs of the item of that change; without one nothing is asked. */
  rerun(pipeline: string, change: ChangeKey): Promise<void>;
  halt(pipeline: string, wanted: HaltMode | 'resume'): Promise<void>;
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
  const core = {
    paths,
    clock,
    ids: life.ids,
    host: life.name,
    tracing: { isSampled: (event: Uuid) => isSampled(event, parts.tracing.ratio) },
  };
  const asked = () => ({
    tenant: parts.tenant,
    by: 'the simulation',
    receivedAt: clock.now(),
    context: undefined,
  });
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
    async enqueue(pipeline, key) {
      const path = paths.tenant(parts.tenant).triggerQueue;
      const queue = new EventQueue<TenantEvent>({ store, path, codec: tenantEventCodec, clock });
      const { tenant } = asked();
      const origin = requestOrigin(core, asked());
      const wanted = { kind: 'change', key } as const;
      const queuedAt = origin.management.storedAt;
      await store.multi(queue.put({ kind: 'enqueue', tenant, pipeline, wanted, queuedAt, ...origin }));
    },
    async rerun(pipeline, change) {
      const { items } = paths.pipeline(parts.tenant, pipeline);
      for (const name of (await store.children(items)) ?? []) {
        const node = await store.get(`${items}/${name}`);
        if (node === undefined) continue;
        const item = queueItemCodec.decode(node.data);
        if (leadChange(item).key === change) await storeRerun(core, store, { ...asked(), pipeline, item });
      }
    },
    async halt(pipeline, wanted) {
      const reason = wanted === 'resume' ? '' : 'a disk is changed';
      await storeHalt(core, store, { ...asked(), pipeline, queue: null, wanted, reason });
    },
  });
  await new Promise<void>(resolve => stop.addEventListener('abort', () => resolve(), { once: true }));
  await store.close();
}
