/**
 * GitHub's own example of a pull_request webhook (23 KB), signed, to the real web over the embedded store: sent at 200 a second, and
 * as fast as 64 connections go. The sender is a thread beside it.
 *
 * Oracle: every 200 is an event in the queue.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { webhookExamples } from '../github/fake/webhook-examples.ts';
import type { Row } from './main.ts';
import { percentile, send, startWeb, TOKEN } from './webhook.ts';
import type { LoadOrder } from './webhook-load.ts';

const CONNECTION = 'driver = github\napi_token = unused\nwebhook_token = %(TOKEN)s\nwebhook_rate = 100000\n';
const HEADERS = {
  'Content-Type': 'application/json',
  'X-GitHub-Event': 'pull_request',
  'X-GitHub-Delivery': '{id}',
  'X-Hub-Signature-256': 'sha256={signature}',
};

export async function benchGithubIntake(): Promise<readonly Row[]> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-github-intake-'));
  try {
    await using stack = new AsyncDisposableStack();
    const store = `[store]\npath = ${directory}/store.sqlite\n`;
    const { web, stored } = await startWeb(store, stack, CONNECTION);
    const body = JSON.stringify(webhookExamples().example('pull_request', 'opened'));
    const load = (order: Pick<LoadOrder, 'connections' | 'events' | 'rate'>) =>
      send({ port: web.port, token: TOKEN, body, headers: HEADERS, ...order });
    await load({ connections: 16, events: 2_000 }); // warm
    const steady = await load({ connections: 64, events: 4_000, rate: 200 });
    const before = process.threadCpuUsage();
    const many = await load({ connections: 64, events: 10_000 });
    const { user, system } = process.threadCpuUsage(before);
    const answered = [steady, many].flatMap(({ statuses }) => Object.entries(statuses));
    const refused = answered.filter(([status]) => status !== '200');
    if (refused.length > 0) throw new Error(`answers other than 200: ${JSON.stringify(refused)}`);
    const events = await stored();
    if (events !== 14_000) throw new Error(`14000 events were answered 200, ${events} are in the queue`);
    return [
      {
        name: '200 webhooks/s of 23 KB → durable answer, p50',
        value: percentile(steady.latencies, 50),
        unit: 'ms',
      },
      {
        name: '200 webhooks/s of 23 KB → durable answer, p99',
        value: percentile(steady.latencies, 99),
        unit: 'ms',
      },
      {
        name: '64 connections, as fast as they go',
        value: Math.round(10_000 / (many.elapsed / 1000)),
        unit: 'events/s',
      },
      { name: 'CPU of the web per webhook', value: (user + system) / 1000 / 10_000, unit: 'ms' },
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
