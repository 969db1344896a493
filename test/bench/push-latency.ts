/**
 * From `git push` to the first step of a job: real repository, post-receive hook, webhook, scheduler, merger, executor and
 * sandbox in one service, as a user has them. Changes are pushed one after the other, each when the last one's job has ended.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createApi } from '../../src/cmd/client/api.ts';
import { type OtlpTraceDocument, spansFromOtlp } from '../../src/cmd/client/spans-from-otlp.ts';
import { createLog } from '../../src/cmd/log.ts';
import { APP, TENANT } from '../../src/cmd/quickstart/demo-files.ts';
import { commitTopic, propose } from '../../src/cmd/quickstart/developer.ts';
import { prepareSite } from '../../src/cmd/quickstart/prepare-site.ts';
import { freePort } from '../../src/cmd/quickstart/service-process.ts';
import { startService } from '../../src/cmd/service/service.ts';
import { readSettings } from '../../src/settings/read-settings.ts';
import type { Row } from './main.ts';

const PUSHES = 20;
const WARM_UP = 3;

export async function benchPushLatency(): Promise<readonly Row[]> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-latency-'));
  const port = await freePort(0);
  const site = await prepareSite({ directory, port, token: 'bench', logLevel: 'warn' });
  const read = readSettings(site.config, {});
  if (read.kind === 'invalid') throw new Error(read.errors.join('\n'));
  const started = await startService(
    read.settings,
    createLog({ level: 'warn', format: 'pretty', stream: process.stderr }),
  );
  if (started.kind === 'refused') throw new Error(started.errors.join('\n'));
  const { service } = started;
  try {
    await service.ready;
    const api = createApi(service.url);
    const fromStart: number[] = [];
    const fromEnd: number[] = [];
    for (let push = 0; push < PUSHES + WARM_UP; push++) {
      const topic = `t${push}`;
      await commitTopic(site.clone(APP), topic, `Change ${push}`, [
        { path: `notes/${push}.txt`, text: `${push}\n` },
      ]);
      const begun = nanoseconds();
      await propose(site.clone(APP), topic);
      const pushed = nanoseconds();
      const step = await firstStep(api, `master/${topic}`);
      if (push < WARM_UP) continue;
      fromStart.push(Number(step - begun) / 1e6);
      fromEnd.push(Number(step - pushed) / 1e6);
    }
    return [
      { name: 'push begins → first job step runs, p50', value: quantile(fromStart, 0.5), unit: 'ms' },
      { name: 'push begins → first job step runs, p95', value: quantile(fromStart, 0.95), unit: 'ms' },
      { name: 'push has returned → first job step runs, p50', value: quantile(fromEnd, 0.5), unit: 'ms' },
      { name: 'push has returned → first job step runs, p95', value: quantile(fromEnd, 0.95), unit: 'ms' },
    ];
  } finally {
    await service.close();
    await rm(directory, { recursive: true, force: true });
  }
}

function nanoseconds(): bigint {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6));
}

/** Start of the first playbook of the change's finished item. */
async function firstStep(api: ReturnType<typeof createApi>, change: string): Promise<bigint> {
  const deadline = performance.now() + 60_000;
  while (performance.now() < deadline) {
    const items = await api.get<
      readonly { readonly uuid: string; readonly changes: readonly { readonly name: string }[] }[]
    >(`/api/tenant/${TENANT}/items?limit=5`);
    const item = items.find(each => each.changes[0]?.name === change);
    if (item !== undefined) {
      const spans = spansFromOtlp(
        await api.get<OtlpTraceDocument>(`/api/tenant/${TENANT}/item/${item.uuid}/trace`),
      );
      const starts = spans.filter(span => span.name.startsWith('Playbook')).map(span => BigInt(span.start));
      if (starts.length === 0) throw new Error(`${change} ran no playbook`);
      return starts.reduce((a, b) => (a < b ? a : b));
    }
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  throw new Error(`${change} did not leave the pipeline`);
}

function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}
