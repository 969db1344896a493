import { describe, expect, it } from 'vitest';
import { routeOf } from '../../../src/cmd/client/route-of.ts';

describe('the route of a request', () => {
  it.each([
    ['/api/tenants', '/api/tenants'],
    ['/api/tenant/acme/project/acme/app/dequeue', '/api/tenant/{}/project/{}/dequeue'],
    ['/api/tenant/acme/project/acme/app/dequeue/dry-run', '/api/tenant/{}/project/{}/dequeue/dry-run'],
    ['/api/tenant/acme/promote/dry-run', '/api/tenant/{}/promote/dry-run'],
    ['/api/tenant/acme/promote', '/api/tenant/{}/promote'],
    ['/api/tenant/acme/project/org/project/dequeue', '/api/tenant/{}/project/{}/dequeue'],
    ['/api/tenant/acme/item/0e2c2081-aa/explain', '/api/tenant/{}/item/{}/explain'],
    ['/api/tenant/acme/changes/master/login/decisions', '/api/tenant/{}/changes/{}/decisions'],
    ['/api/components/executor-4/pause', '/api/components/{}/pause'],
    ['/ci/api/info', '/{}/api/info'],
  ])('has no name and no id in it: %s', (path, route) => {
    expect(routeOf(path)).toBe(route);
  });
});
