/** Requests of people at the code host to remove or promote changes, for the queues of the tenants they concern. */
import type { HostPromote, ProcessedEvent } from '../../driver/source.ts';
import type { Nanoseconds } from '../../lib/clock.ts';
import { derivedUuid, type Uuid } from '../../lib/ids.ts';
import type { ChangeKey } from '../../model/change.ts';
import type { ConnectionEvent, EventOrigin, TenantEvent } from '../../model/event.ts';
import type { TenantName } from '../../model/project.ts';
import type { EventQueue } from '../../store/event-queue.ts';
import type { Operation } from '../../store/port.ts';

/** Requests of one event and kind; more are dropped. */
const MOST_REQUESTS = 50;
/** Characters of the name of who asked; hosts allow less. */
const LONGEST_NAME = 256;

/** From when an order is queued, and the trace it follows from. */
interface OrderedFrom {
  readonly origin: EventOrigin;
  readonly queuedAt: Nanoseconds;
}

/** What every order has besides the request. */
type Ordered = OrderedFrom & {
  readonly uuid: Uuid;
  readonly tenant: TenantName;
  readonly by: string;
  readonly receivedAt: Nanoseconds;
};

/** The tenants that the orders go to. */
interface OrderPlaces {
  /** Tenants that hold the change's project; none: the project is not known. */
  tenantsOf(
    change: ChangeKey,
  ): readonly { readonly tenant: TenantName; readonly queue: EventQueue<TenantEvent> }[];
}

/** For the commit of the event that brought them. */
export function hostOrders(
  { dequeues = [], promotes = [] }: Pick<ProcessedEvent, 'dequeues' | 'promotes'>,
  event: Pick<ConnectionEvent, 'uuid' | 'receivedAt'>,
  from: OrderedFrom,
  places: OrderPlaces,
): readonly Operation[] {
  const common = { event, from, places };
  return [
    ...ordersOf('dequeue', dequeues, common, order => ({ ...order, kind: 'dequeue' })),
    ...ordersOf('promote', promotes, common, order => ({ ...order, kind: 'promote' })),
  ];
}

function ordersOf<Request extends HostPromote>(
  kind: TenantEvent['kind'],
  requests: readonly Request[],
  {
    event: { uuid, receivedAt },
    from,
    places,
  }: {
    readonly event: Pick<ConnectionEvent, 'uuid' | 'receivedAt'>;
    readonly from: OrderedFrom;
    readonly places: OrderPlaces;
  },
  eventOf: (order: Request & Ordered) => TenantEvent,
): readonly Operation[] {
  return requests.slice(0, MOST_REQUESTS).flatMap((request, index) =>
    places
      .tenantsOf(request.change)
      .filter(({ tenant }) => request.tenant === undefined || tenant === request.tenant)
      .flatMap(({ tenant, queue }) =>
        queue.put(
          eventOf({
            ...request,
            ...{ uuid: derivedUuid(uuid, tenant, `${kind} ${index}`), tenant, receivedAt },
            ...{ by: request.by.slice(0, LONGEST_NAME), ...from },
          }),
        ),
      ),
  );
}
