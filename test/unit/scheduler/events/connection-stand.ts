/** A connection with a made-up source, its queue, and the queue of the one tenant that holds {@link APP}. */
import type { Connection } from '../../../../src/driver/connection.ts';
import type { ProcessedEvent, Source } from '../../../../src/driver/source.ts';
import type { MetricsSink } from '../../../../src/metrics/registry.ts';
import {
  connectionEventCodec,
  historyRowsCodec,
  spansCodec,
  tenantEventCodec,
} from '../../../../src/model/codec/records.ts';
import type { ConnectionEvent, TenantEvent, TriggerEvent } from '../../../../src/model/event.ts';
import type { ProjectKey } from '../../../../src/model/project.ts';
import { openChangeCache } from '../../../../src/scheduler/changes/change-cache.ts';
import { processConnectionEvents } from '../../../../src/scheduler/events/connection-events.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { EventQueue } from '../../../../src/store/event-queue.ts';
import { acquireFence } from '../../../../src/store/fence.ts';
import { listOutbox, readOutbox } from '../../../../src/store/outbox.ts';
import type { Store } from '../../../../src/store/port.ts';
import { WHOLE_TRACES } from '../../../../src/tracing/live-tracing.ts';
import { DEFAULT_SPAN_OPTIONS } from '../../../../src/tracing/spans/span-options.ts';
import { APP, proposedChange } from '../../../fake/queue-item.ts';
import type { Stand } from '../stand.ts';

export const change = proposedChange('master/login');
export const NOTHING: ProcessedEvent = { events: [], changes: [], updated: [], memory: [], refusals: [] };

export type FakeSource = Pick<Source, 'process' | 'coalesceKey' | 'comesInStorms' | 'lane'>;

interface HoldOptions {
  /** Of the process that holds the connection. */
  readonly session?: Store;
  readonly metrics?: Pick<MetricsSink, 'source'>;
  /** Default: a millisecond. */
  readonly pauses?: readonly number[];
  /** Of the tenant; default {@link APP}. */
  readonly projects?: ReadonlySet<ProjectKey>;
}

export async function openConnection(stand: Stand, name = 'local') {
  const { store, paths, clock, ids, log } = stand;
  const places = paths.connection(name);
  const queueOn = (session: Store) =>
    new EventQueue<ConnectionEvent>({
      store: session,
      path: places.queue,
      seenPath: places.seen,
      codec: connectionEventCodec,
      clock,
    });
  const tenantQueueOn = (session: Store) =>
    new EventQueue<TenantEvent>({
      store: session,
      path: paths.tenant('acme').triggerQueue,
      codec: tenantEventCodec,
      clock,
    });
  const queue = queueOn(store);
  const tenantQueue = tenantQueueOn(store);
  await queue.prepare();
  await tenantQueue.prepare();
  for (const path of [
    ...[paths.changeCache(name), paths.spanOutbox, paths.historyOutbox, paths.landings],
    ...[places.memory, places.election],
  ])
    await ensureNode(store, path);
  const event = (deliveryId: string): ConnectionEvent => ({
    uuid: ids.uuid(),
    connection: name,
    deliveryId,
    type: 'refs-changed',
    payload: {},
    receivedAt: clock.now(),
    storedAt: clock.now(),
    sampled: true,
  });
  const rows = async (outbox: string) => readOutbox(store, await listOutbox(store, outbox));
  return {
    queue,
    tenantQueue,
    offer: (deliveryId: string) => queue.offer(event(deliveryId), deliveryId),
    /** Takes the connection, and processes what comes in. */
    async hold(
      source: FakeSource,
      { session = store, metrics, pauses = [1], projects = new Set([APP]) }: HoldOptions = {},
    ) {
      const changes = await openChangeCache([name], session, paths, error =>
        log.error({ err: error }, 'cache'),
      );
      const fence = await acquireFence(session, {
        lockPath: places.election,
        epochPath: places.epoch,
        lastOperationPath: places.lastOperation,
        guid: ids.uuid(),
      });
      const stop = new AbortController();
      const tenants = tenantQueueOn(session);
      const loop = processConnectionEvents(
        {
          connection: { name, driver: 'git', source } as unknown as Connection,
          ...{ store: session, paths, clock, ids, log, changes },
          dependencies: { resolve: async record => record },
          tracing: { spans: () => DEFAULT_SPAN_OPTIONS, policy: () => WHOLE_TRACES },
          queue: queueOn(session),
          pauses,
          tenantsOf: project => (projects.has(project) ? [{ tenant: 'acme', queue: tenants }] : []),
          projects: () => projects,
          ...(metrics === undefined ? {} : { metrics }),
        },
        fence,
        stop.signal,
      );
      loop.catch(() => {});
      return {
        changes,
        fence,
        loop,
        async end() {
          stop.abort();
          await loop;
          changes[Symbol.dispose]();
        },
      };
    },
    spans: async () => (await rows(paths.spanOutbox)).flatMap(row => spansCodec.decode(row.data)),
    history: async () => (await rows(paths.historyOutbox)).flatMap(row => historyRowsCodec.decode(row.data)),
  };
}

export function trigger(event: ConnectionEvent, type: string, project = APP): TriggerEvent {
  return {
    uuid: event.uuid,
    connection: 'local',
    driver: 'git',
    type,
    project,
    branch: 'master',
    ref: null,
    change: { ...change, project },
    facts: {},
    configMayHaveChanged: [],
    branchesChanged: false,
    receivedAt: event.receivedAt,
    sampled: event.sampled,
    span: { traceId: 'x' as never, spanId: 'y' as never },
  };
}
