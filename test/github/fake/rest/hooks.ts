/** The delivery log of the App's webhook, and of a repository's. */
import type { Delivery } from '../deliveries.ts';
import { notFound } from '../refused.ts';
import { type Shape, shapeAt } from '../shape.ts';
import { exampleOf } from '../shapes.ts';
import { fullName } from '../world.ts';
import { type Call, type Handlers, type Reply, repositoryOf } from './call.ts';

export const hookHandlers: Handlers = {
  'apps/get-webhook-config-for-app': ({ deliveries }) => {
    const { url } = deliveries.target;
    const config = { content_type: 'json', insecure_ssl: '0', secret: '********' };
    return { status: 200, body: url === undefined ? config : { ...config, url } };
  },
  'apps/list-webhook-deliveries': call => listed(call, call.deliveries.log),
  'apps/get-webhook-delivery': call => one(call),
  'apps/redeliver-webhook-delivery': call => again(call),
  'repos/list-webhooks': call => {
    const { world, deliveries } = call;
    const repository = repositoryOf(call);
    const example = shapeAt(exampleOf(world, 'repos/list-webhooks', 200, repository), 0);
    const config = { content_type: 'json', insecure_ssl: '0', url: deliveries.target.url ?? world.origin };
    const url = `${world.api}/repos/${fullName(repository)}/hooks/1`;
    return { status: 200, body: [{ ...example, id: 1, url, active: true, config }] };
  },
  'repos/list-webhook-deliveries': call => {
    const { id } = repositoryOf(call);
    return listed(
      call,
      call.deliveries.log.filter(each => each.repositoryId === id),
    );
  },
  'repos/get-webhook-delivery': call => one(call),
  'repos/redeliver-webhook-delivery': call => again(call),
};

/** Newest first, paged by cursor: the id of the last one seen. */
function listed({ query }: Call, log: readonly Delivery[]): Reply {
  const size = Math.min(100, Number(query.per_page ?? 30));
  const before = query.cursor === undefined ? Number.POSITIVE_INFINITY : Number(query.cursor);
  const failed = (each: Delivery) => each.status < 200 || each.status > 399;
  const wanted = (each: Delivery) =>
    query.status === undefined || (query.status === 'failure') === failed(each);
  const all = log.toReversed().filter(each => each.id < before && wanted(each));
  const page = all.slice(0, size);
  const last = page.at(-1);
  const more = all.length > size && last !== undefined ? { cursor: String(last.id) } : {};
  return { status: 200, body: page.map(itemShape), ...more };
}

function itemShape(delivery: Delivery): Shape {
  const { id, guid, deliveredAt, redelivery, status, event, action, installationId, repositoryId } = delivery;
  return {
    id,
    guid,
    delivered_at: deliveredAt,
    redelivery,
    duration: 0.1,
    status: status >= 200 && status < 300 ? 'OK' : `Invalid HTTP Response: ${status}`,
    status_code: status,
    event,
    action,
    installation_id: installationId,
    repository_id: repositoryId,
    throttled_at: null,
  };
}

function one({ deliveries, path, world }: Call): Reply {
  const found = deliveries.log.find(each => each.id === Number(path.delivery_id));
  if (found === undefined) throw notFound();
  const example = shapeAt(exampleOf(world, 'apps/get-webhook-delivery', 200));
  const headers = {
    'X-GitHub-Delivery': found.guid,
    'X-GitHub-Event': found.event,
    'Content-Type': 'application/json',
  };
  return {
    status: 200,
    body: {
      ...example,
      ...itemShape(found),
      url: deliveries.target.url ?? '',
      request: { headers, payload: found.payload },
      response: { headers: {}, payload: '' },
    },
  };
}

function again({ deliveries, path }: Call): Reply {
  if (!deliveries.redeliver(Number(path.delivery_id))) throw notFound();
  return { status: 202, body: {} };
}
