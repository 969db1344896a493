/** Limits, the product itself, people. */
import { notFound, RequestRefused } from '../refused.ts';
import { shapeAt } from '../shape.ts';
import { accountShape, exampleOf } from '../shapes.ts';
import type { Call, Handlers, Reply } from './call.ts';

export const metaHandlers: Handlers = {
  'meta/get': ({ world }) => {
    const ghes = world.description.product === 'ghes';
    return {
      status: 200,
      body: { verifiable_password_authentication: false, ...(ghes ? { installed_version: '3.17.0' } : {}) },
    };
  },
  'rate-limit/get': ({ world, limits, actor }) => {
    if (world.description.product === 'ghes') throw new RequestRefused(404, 'Rate limiting is not enabled.');
    const { allowance, used, reset } = limits.meterOf(actor);
    const of = (resource: 'core' | 'graphql') => ({
      limit: allowance[resource],
      used: used[resource],
      remaining: Math.max(0, allowance[resource] - used[resource]),
      reset,
    });
    const search = { limit: 30, used: 0, remaining: 30, reset };
    return {
      status: 200,
      body: { resources: { core: of('core'), graphql: of('graphql'), search }, rate: of('core') },
    };
  },
  'users/get-authenticated': ({ world, actor }) => {
    if (actor.kind !== 'user') throw new RequestRefused(403, 'Resource not accessible by integration');
    return userReply(world, 'users/get-authenticated', actor.login);
  },
  'users/get-by-username': ({ world, path }) => {
    if (world.deletedUsers.has(path.username ?? '')) throw notFound();
    return userReply(world, 'users/get-by-username', path.username ?? '');
  },
};

function userReply(world: Call['world'], operation: string, login: string): Reply {
  const example = shapeAt(exampleOf(world, operation, 200));
  return {
    status: 200,
    body: { ...example, ...accountShape(world, login), name: login, email: world.emails.get(login) ?? null },
  };
}
