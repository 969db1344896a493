import { describe, expect, it } from 'vitest';
import { MetricsPortError, openMetricsServer } from '../../../../src/cmd/service/metrics-server.ts';
import { createMetrics } from '../../../../src/metrics/registry.ts';
import type { ComponentHealth } from '../../../../src/web/deps.ts';

const ANYWHERE = { listenAddress: '127.0.0.1', port: 0 };

describe('the port of [metrics]', () => {
  it('serves metrics in both formats, and the health of the process', async () => {
    const metrics = createMetrics();
    metrics.source(() => [{ metric: 'gatehouse_builds_running', labels: { executor: 'host-1' }, value: 3 }]);
    let components: readonly ComponentHealth[] = [
      { component: 'executor', ready: false, reason: 'starting' },
    ];
    await using server = await openMetricsServer(ANYWHERE, { metrics, health: () => components });
    const get = (path: string, accept = '*/*') => fetch(`${server.url}${path}`, { headers: { accept } });
    const plain = await get('/metrics');
    expect(plain.headers.get('content-type')).toContain('text/plain');
    expect(await plain.text()).toContain('gatehouse_builds_running{executor="host-1"} 3');
    const open = await get('/metrics', 'application/openmetrics-text;version=1.0.0');
    expect(open.headers.get('content-type')).toContain('application/openmetrics-text');
    await open.text();
    expect(await (await get('/health/live')).json()).toMatchObject({ status: 'alive' });
    const early = await get('/health/ready');
    expect([early.status, await early.json()]).toEqual([503, { status: 'not ready', components }]);
    components = [{ component: 'executor', ready: true }];
    expect((await get('/health/ready')).status).toBe(200);
  });

  it('serves nothing else, and changes nothing', async () => {
    await using server = await openMetricsServer(ANYWHERE, { metrics: createMetrics(), health: () => [] });
    expect((await fetch(`${server.url}/api/tenants`)).status).toBe(404);
    expect((await fetch(`${server.url}/metrics`, { method: 'POST' })).status).toBe(405);
    expect(await (await fetch(`${server.url}/metrics`, { method: 'HEAD' })).text()).toBe('');
  });

  it('that is taken is an error that says which option to change', async () => {
    const deps = { metrics: createMetrics(), health: () => [] };
    await using first = await openMetricsServer(ANYWHERE, deps);
    const port = Number(new URL(first.url).port);
    const second = openMetricsServer({ listenAddress: '127.0.0.1', port }, deps);
    await expect(second).rejects.toThrow(MetricsPortError);
    await expect(second).rejects.toThrow(/\[metrics\] listen_address and port/);
  });
});
