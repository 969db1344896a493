import { logPathOf, readLog } from '../../executor/log-file.ts';
import type { History } from '../../history/history.ts';
import { connectionEventCodec, pipelineEventCodec } from '../../model/codec/records.ts';
import type { ConnectionEvent, PipelineEvent } from '../../model/event.ts';
import type { ConnectionName } from '../../model/project.ts';
import { EventQueue } from '../../store/event-queue.ts';
import { openLiveTenants } from '../../store/live-tenants.ts';
import { explainItem } from '../../tracing/explain.ts';
import { itemSpans } from '../../tracing/spans/item-spans.ts';
import { DEFAULT_SPAN_OPTIONS } from '../../tracing/spans/span-options.ts';
import { createWeb } from '../../web/create-web.ts';
import type { ComponentHealth } from '../../web/deps.ts';
import { VERSION } from '../version.ts';
import type { Component, Core } from './core.ts';
import { leavingItem } from './leaving-item.ts';
import type { SpanDelivery } from './span-delivery.ts';
import { openWaitingEvents } from './waiting-events.ts';
import { snapshotOf } from './web-view.ts';

export interface WebParts {
  readonly history: History;
  readonly delivery: SpanDelivery | undefined;
  readonly health: () => readonly ComponentHealth[];
}

export async function startWeb(core: Core, parts: WebParts): Promise<Component & { readonly port: number }> {
  const store = core.session();
  const { clock, ids, paths, settings } = core;
  const log = core.log.child({ component: 'web' });
  const live = await openLiveTenants(store, paths, error =>
    log.error({ err: error }, 'the live view could not be refreshed'),
  );
  const intakes = new Map<ConnectionName, EventQueue<ConnectionEvent>>();
  for (const name of core.connections.keys()) {
    const places = paths.connection(name);
    const queue = new EventQueue<ConnectionEvent>({
      store,
      path: places.queue,
      seenPath: places.seen,
      codec: connectionEventCodec,
      clock,
    });
    await queue.prepare();
    intakes.set(name, queue);
  }
  const waiting = await openWaitingEvents({
    store,
    paths,
    connections: core.connections.keys(),
    tenants: core.tenants.map(tenant => tenant.name),
    onError: error => log.error({ err: error }, 'the number of waiting events could not be refreshed'),
  });
  const { tracing } = settings;
  const view = { live, waiting, clock, connections: core.connections, delivery: parts.delivery };
  const web = createWeb({
    clock,
    log,
    version: VERSION,
    root: core.root,
    sse: settings.web.sse,
    traceUi: tracing.kind === 'on' ? tracing.uiUrl : null,
    tenants: live.tenants,
    snapshot: tenant => snapshotOf(tenant, view),
    onChange(listener) {
      const stack = new DisposableStack();
      stack.use(live.onChange(listener));
      stack.use(waiting.onChange(listener));
      return () => stack.dispose();
    },
    history: parts.history,
    leavingItem: (tenant, uuid) => leavingItem(store, paths.historyOutbox, tenant, uuid),
    spansOf: item => itemSpans(item, core.spans ?? DEFAULT_SPAN_OPTIONS),
    explain: (item, now) => explainItem(item, now),
    connections: () => [...core.connections.values()],
    async storeEvent(connection, event) {
      const queue = intakes.get(connection);
      if (queue === undefined) throw new Error(`connection ${connection} takes no events`);
      const now = clock.now();
      const sampled = tracing.kind === 'on' && Math.random() < tracing.sampleRatio;
      return queue.offer(
        { uuid: ids.uuid(), connection, ...event, receivedAt: now, storedAt: now, sampled },
        event.deliveryId,
      );
    },
    async readLog(build, offset, limit) {
      const part = await readLog(logPathOf(settings.executor.logDir, build), offset, limit);
      return part === undefined ? undefined : { bytes: part.bytes, complete: part.complete };
    },
    async dequeue({ tenant, pipeline, item }) {
      const queue = new EventQueue<PipelineEvent>({
        store,
        path: paths.pipeline(tenant, pipeline).eventQueue,
        codec: pipelineEventCodec,
        clock,
      });
      const { key } = item.changes[0];
      await store.multi(queue.put({ kind: 'dequeue', uuid: ids.uuid(), change: key, by: 'the web API' }));
    },
    health: parts.health,
  });
  const { port } = await web.listen({ address: settings.web.listenAddress, port: settings.web.port });
  const ended = Promise.withResolvers<void>();
  return {
    name: 'web',
    port,
    ended: ended.promise,
    notReady: () => undefined,
    async close() {
      await web.close();
      live[Symbol.dispose]();
      waiting[Symbol.dispose]();
      await store.close();
      ended.resolve();
    },
  };
}
