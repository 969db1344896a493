/** Stores webhooks in the queues of their connections: durable before the host gets 2xx, or an error in time. */
import type { Connection } from '../../driver/connection.ts';
import type { NewConnectionEvent } from '../../driver/intake.ts';
import type { Clock } from '../../lib/clock.ts';
import type { IdMaker } from '../../lib/ids.ts';
import { createTokenBucket, type TokenBucket } from '../../lib/token-bucket.ts';
import { connectionEventCodec } from '../../model/codec/records.ts';
import type { ConnectionEvent } from '../../model/event.ts';
import type { ConnectionName } from '../../model/project.ts';
import { EventQueue } from '../../store/event-queue.ts';
import { createOfferGroup, type OfferGroup } from '../../store/offer-group.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';
import type { LiveTracing } from '../../tracing/live-tracing.ts';
import { deliveryLogFacts } from '../../tracing/log-facts.ts';
import type { Contact } from './contact.ts';
import { type DuplicateDeps, traceDuplicate } from './duplicate-delivery.ts';

/** Shared by all requests of a web. */
export interface WebhookStore {
  /** @throws Error when durability is not confirmed in time; the host should send the webhook again. */
  store(connection: ConnectionName, event: NewConnectionEvent): Promise<'stored' | 'duplicate'>;
}

/** `connections` are all that may get events; their queues are created with the first one. */
export interface WebhookIntakeDeps extends DuplicateDeps {
  readonly store: Store;
  readonly paths: StorePaths;
  readonly connections: ReadonlyMap<ConnectionName, Pick<Connection, 'driver'>>;
  readonly contact: Pick<Contact, 'awayFor'>;
  readonly clock: Clock;
  readonly ids: IdMaker;
  /** Name of this machine. */
  readonly host: string;
  readonly tracing: Pick<LiveTracing, 'spans' | 'isSampled'>;
}

/**
 * Milliseconds until a webhook is refused while the store is out of contact. Hosts time out after 10 s (GitHub) and do not resend
 * on a timeout, but do resend after a refusal.
 */
const PATIENCE = 6_000;

/** Traces of duplicate deliveries per connection: burst, and rate per second. */
const TRACED_BURST = 20;
const TRACED_PER_SECOND = 0.1;

/** Offers of one connection are written together. A duplicate is traced here, at a bounded rate. */
export function createWebhookIntake(deps: WebhookIntakeDeps): WebhookStore {
  const { store, paths, contact, clock, ids } = deps;
  const queues = new Map<
    ConnectionName,
    {
      readonly queue: EventQueue<ConnectionEvent>;
      readonly group: OfferGroup<ConnectionEvent>;
      readonly driver: string;
      readonly traced: TokenBucket;
    }
  >();
  const prepared = new Map<ConnectionName, Promise<void>>();
  for (const [name, { driver }] of deps.connections) {
    const places = paths.connection(name);
    const queue = new EventQueue<ConnectionEvent>({
      store,
      path: places.queue,
      seenPath: places.seen,
      codec: connectionEventCodec,
      clock,
    });
    const traced = createTokenBucket(TRACED_BURST, TRACED_PER_SECOND, clock);
    queues.set(name, { queue, group: createOfferGroup(store, queue), driver, traced });
  }

  /** Runs once; after a failure, again with the next event. */
  function prepare(name: ConnectionName, queue: EventQueue<ConnectionEvent>): Promise<void> {
    const known = prepared.get(name);
    if (known !== undefined) return known;
    const preparing = queue.prepare();
    prepared.set(name, preparing);
    // The caller gets the error; the next event tries again.
    preparing.catch(() => prepared.delete(name));
    return preparing;
  }

  async function offer(
    connection: ConnectionName,
    event: NewConnectionEvent,
  ): Promise<'stored' | 'duplicate'> {
    const queue = queues.get(connection);
    if (queue === undefined) throw new Error(`connection ${connection} takes no events`);
    await prepare(connection, queue.queue);
    const now = clock.now();
    const uuid = ids.uuid();
    const sampled = deps.tracing.isSampled(uuid);
    const times = { receivedAt: now, storedAt: now };
    const offered = { uuid, connection, ...event, ...times, receiver: deps.host, sampled };
    const outcome = await queue.group.offer(offered, event.deliveryId);
    if (outcome === 'stored')
      deps.log.debug({ connection, ...deliveryLogFacts(offered) }, 'received an event by webhook');
    // Rate-limited, unlike the metric, which counts all of them.
    if (outcome === 'duplicate' && queue.traced.take() === 0)
      await traceDuplicate(offered, queue.driver, deps);
    return outcome;
  }

  return {
    async store(connection, event) {
      const left = PATIENCE - contact.awayFor();
      if (left <= 0) throw new Error('there is no contact with the store');
      // After the timeout the event may still be stored; a resent one is then a duplicate.
      const { promise: late, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(
        () => reject(new Error(`the store did not answer within ${(left / 1000).toFixed(1)} s`)),
        left,
      );
      try {
        return await Promise.race([offer(connection, event), late]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
