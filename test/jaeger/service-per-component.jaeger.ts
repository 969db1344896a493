/** With `service_per_component` a real Jaeger lists, colours and connects the components as services of their own. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEMO, playDemo } from '../scenario/demo-story.ts';
import { openWorld } from '../scenario/open-world.ts';
import type { World } from '../scenario/world.ts';
import { search, trace } from './ask-jaeger.ts';
import { sendRaw } from './send-raw.ts';
import { type Jaeger, startJaeger } from './start-jaeger.ts';

const DAY = 86_400_000;
const today = () => ({ from: new Date(Date.now() - DAY / 2), to: new Date(Date.now() + DAY / 2) });

let world: World;
let jaeger: Jaeger;

beforeAll(async () => {
  world = await openWorld({ ...DEMO, tracing: ['service_per_component = true'] }, { kind: 'embedded' });
  await playDemo(world);
  jaeger = await startJaeger();
  const { requests } = world.sink;
  await sendRaw(
    jaeger,
    'grpc',
    requests.map(({ body }) => body),
  );
  const counts = Map.groupBy(
    requests.flatMap(({ spans }) => spans),
    ({ traceId }) => traceId,
  );
  for (const [id, spans] of counts)
    await world.observer.until(
      `${spans.length} spans of ${id}`,
      async () => (await trace(jaeger.query, id, true)).length >= spans.length,
    );
});
afterAll(async () => {
  await jaeger?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

test('lists each component that worked as a service', async () => {
  expect(await ask<readonly string[]>('/api/services')).toEqual(
    expect.arrayContaining(['gatehouse-executor', 'gatehouse-merger', 'gatehouse-scheduler']),
  );
});

test('finds items with the scheduler, and the steps of builds with the executor', async () => {
  const find = (service: string, type: string) =>
    search(jaeger.query, { service, tags: { 'gatehouse.span.type': type }, ...today() });
  const items = await find('gatehouse-scheduler', 'QueueItem');
  expect(items.length).toBeGreaterThan(3);
  expect(await find('gatehouse-executor', 'QueueItem')).toEqual([]);
  const builds = await find('gatehouse-executor', 'JobExecution');
  expect(items.filter(id => builds.includes(id)).length).toBeGreaterThan(0);
});

test('draws who called whom', async () => {
  const lookback = String(DAY);
  const end = String(Date.now() + DAY / 2);
  const calls = await ask<readonly { readonly parent: string; readonly child: string }[]>(
    `/api/dependencies?${new URLSearchParams({ endTs: end, lookback })}`,
  );
  const drawn = calls.map(({ parent, child }) => `${parent} → ${child}`);
  expect(drawn).toEqual(
    expect.arrayContaining([
      'gatehouse-scheduler → gatehouse-executor',
      'gatehouse-scheduler → gatehouse-merger',
    ]),
  );
});

async function ask<T>(path: string): Promise<T> {
  const response = await fetch(`${jaeger.query}${path}`);
  expect(response.ok, path).toBe(true);
  const { data } = (await response.json()) as { readonly data: T };
  return data;
}
