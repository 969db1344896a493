/**
 * Webhooks: from the request to the answer, which comes when the event is durable. The real web with the git driver's signature
 * check, over the embedded store and over a real ZooKeeper that synchronises each write to disk; the sender is a thread beside it, so
 * sender, service and ZooKeeper share this machine's cores.
 *
 * Oracle: every 200 is an event in the queue.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { createLog } from '../../src/cmd/log.ts';
import { driverTable } from '../../src/cmd/service/driver-table.ts';
import { liveTracing } from '../../src/cmd/service/live-tracing.ts';
import type { ProcessCore } from '../../src/cmd/service/manage-component.ts';
import { noRepositories } from '../../src/cmd/service/no-repositories.ts';
import { openConnections } from '../../src/cmd/service/open-connections.ts';
import { openStoreSource, storeName } from '../../src/cmd/service/open-store-source.ts';
import { openWeb } from '../../src/cmd/service/start-web.ts';
import { openHistory } from '../../src/history/history.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { randomIds } from '../../src/lib/ids.ts';
import { createMetrics } from '../../src/metrics/registry.ts';
import { parseSettings } from '../../src/settings/parse-settings.ts';
import { storePaths } from '../../src/store/paths.ts';
import { startZooKeeper } from '../fake/zookeeper/server.ts';
import type { Row } from './main.ts';
import type { LoadOrder, LoadResult } from './webhook-load.ts';

export const TOKEN = 'bench';
const GIT_CONNECTION = 'driver = git\nbaseurl = /nowhere\nwebhook_token = %(TOKEN)s\nwebhook_rate = 100000\n';

export async function benchWebhook(): Promise<readonly Row[]> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-webhook-'));
  try {
    const embedded = await measure('embedded', `[store]\npath = ${directory}/store.sqlite\n`);
    await using server = await startZooKeeper({ durable: true });
    const zookeeper = await measure('ZooKeeper', `[zookeeper]\nhosts = 127.0.0.1:${server.port}\n`);
    return [...embedded, ...zookeeper];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function measure(name: string, store: string): Promise<readonly Row[]> {
  await using stack = new AsyncDisposableStack();
  const { web, stored } = await startWeb(store, stack);
  const load = (order: Omit<LoadOrder, 'port' | 'token'>) => send({ port: web.port, token: TOKEN, ...order });
  await load({ connections: 16, events: 2_000 }); // warm
  const one = await load({ connections: 1, events: 500 });
  const before = process.threadCpuUsage();
  const many = await load({ connections: 64, events: 10_000 });
  const { user, system } = process.threadCpuUsage(before);
  const steady = await load({ connections: 64, events: 6_000, rate: 1_500 });
  const answered = [one, many, steady].flatMap(({ statuses }) => Object.entries(statuses));
  const refused = answered.filter(([status]) => status !== '200');
  if (refused.length > 0) throw new Error(`answers other than 200: ${JSON.stringify(refused)}`);
  const events = await stored();
  const sent = one.latencies.length + many.latencies.length + steady.latencies.length;
  if (events !== sent) throw new Error(`${sent} events were answered 200, ${events} are in the queue`);
  return [
    { name: `${name}: one at a time, p50`, value: percentile(one.latencies, 50), unit: 'ms' },
    { name: `${name}: one at a time, p99`, value: percentile(one.latencies, 99), unit: 'ms' },
    {
      name: `${name}: 64 connections, as fast as they go`,
      value: Math.round(10_000 / (many.elapsed / 1000)),
      unit: 'events/s',
    },
    { name: `${name}: CPU of the web per event`, value: (user + system) / 1000 / 10_000, unit: 'ms' },
    { name: `${name}: 64 connections, p50`, value: percentile(many.latencies, 50), unit: 'ms' },
    { name: `${name}: 64 connections, p99`, value: percentile(many.latencies, 99), unit: 'ms' },
    { name: `${name}: 1 500 events/s, p50`, value: percentile(steady.latencies, 50), unit: 'ms' },
    { name: `${name}: 1 500 events/s, p99`, value: percentile(steady.latencies, 99), unit: 'ms' },
  ];
}

/** @param connection lines of its section. */
export async function startWeb(store: string, stack: AsyncDisposableStack, connection = GIT_CONNECTION) {
  const text = `[scheduler]\ntenant_config = t.yaml\n${store}[web]\nport = 0\n[connection local]\n${connection}`;
  const source = { content: new TextEncoder().encode(text), file: 'bench.conf', directory: '/' };
  const parsed = parseSettings({ ...source, environment: { TOKEN } });
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems));
  const { settings } = parsed;
  const clock = systemClock();
  const log = createLog({ level: 'error', format: 'pretty', stream: process.stderr });
  const repositories = noRepositories('the benchmark reads no repository');
  const { connections, loaded } = await openConnections(settings.connections, driverTable, {
    clock,
    log,
    repositories,
  });
  const opened = await openStoreSource(settings.store, { clock, log });
  if (opened.kind === 'refused') throw new Error(opened.errors.join('\n'));
  const sessions = stack.use(opened.source);
  const history = await openHistory({ kind: 'sqlite', path: ':memory:' });
  stack.defer(() => history.close());
  const paths = storePaths(settings.store.root);
  const core: ProcessCore = {
    settings,
    log,
    clock,
    ids: randomIds(),
    host: 'bench',
    keyring: undefined,
    paths,
    connections,
    messengers: new Map(),
    notices: [],
    drivers: loaded,
    tenants: [],
    repositories,
    root: () => 'http://127.0.0.1',
    metrics: createMetrics(),
    tracing: liveTracing(settings.tracing, connections, () => 'http://127.0.0.1'),
    storeName: storeName(settings.store),
    connect: (name, signal) => sessions.connect(name, signal),
  };
  const web = stack.use(await openWeb(core, { history, health: () => [], realms: [] }));
  await web.join(await sessions.connect('web'));
  await web.ready;
  const reader = await sessions.connect('oracle');
  const queue = paths.connection('local').queue;
  // Less what warmed up.
  return { web, stored: async () => ((await reader.get(queue))?.stat.childCount ?? 0) - 2_000 };
}

export function send(order: LoadOrder): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./webhook-load.ts', import.meta.url), { workerData: order });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0;
}
