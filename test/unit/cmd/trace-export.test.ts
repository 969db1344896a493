import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runProgram } from '../../../src/cmd/commands/program.ts';
import { openHistory } from '../../../src/history/history.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { failedStory, resetAndMergedStory } from '../../fake/item-stories.ts';
import { type OtlpSink, startOtlpSink } from '../../fake/otlp-sink.ts';

const OLD = '2001-01-01';
const MERGED = resetAndMergedStory().item;
const FAILED = { ...failedStory().item, sampled: false };

describe('gatehouse trace export', () => {
  let directory: string;
  let sink: OtlpSink;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-export-'));
    sink = await startOtlpSink();
    await configure(`endpoint = ${sink.url}`);
  });
  afterEach(async () => {
    await sink[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  });

  async function configure(tracing: string): Promise<void> {
    const text = `[scheduler]\ntenant_config = tenants.yaml\nstate_dir = state\n\n[tracing]\n${tracing}\n\n[database]\ndburi = sqlite:///history.sqlite\n`;
    await writeFile(join(directory, 'gatehouse.conf'), text);
  }

  async function record(installation = true): Promise<void> {
    const history = await openHistory({ kind: 'sqlite', path: join(directory, 'history.sqlite') });
    await history.record([MERGED, FAILED].map(item => ({ kind: 'item', item })));
    if (installation) await history.useFor('0e2c20816b4f4f0c9d3f1e5a7b8c9d0e');
    await history.close();
  }

  async function run(...args: readonly string[]) {
    const said: string[] = [];
    const stream = { write: (text: string) => said.push(text) };
    const status = await runProgram(['trace', 'export', '-c', join(directory, 'gatehouse.conf'), ...args], {
      stdout: stream,
      stderr: stream,
      environment: {},
      clock: systemClock(),
      interrupted: () => new AbortController().signal,
    });
    return { status, said: said.join('') };
  }

  test('sends what sampling chose, and says what it left out', async () => {
    await record();
    const { status, said } = await run('--since', OLD);
    expect(said).toMatch(
      /^\d+ spans of 1 item sent to http.*\n1 item left out by sampling; --all includes them\n$/,
    );
    expect(status).toBe(0);
    expect(new Set(sink.spans.map(span => span.traceId))).toEqual(new Set([MERGED.uuid]));
    expect(sink.spans[0]?.resource['service.instance.id']).toBe('0e2c20816b4f4f0c9d3f1e5a7b8c9d0e/scheduler');
  });

  test('sends everything with --all, and nothing with --dry-run', async () => {
    await record();
    expect((await run('--since', OLD, '--all', '--dry-run')).said).toMatch(
      /^\d+ spans of 2 items would be sent\n$/,
    );
    expect(sink.requests).toEqual([]);
    await run('--since', OLD, '--all');
    expect(new Set(sink.spans.map(span => span.traceId))).toEqual(new Set([MERGED.uuid, FAILED.uuid]));
  });

  test('says what the collector refused, with status 1', async () => {
    await record();
    sink.answerAlways({ kind: 'status', code: 3, message: 'no such tenant' });
    const { status, said } = await run('--since', OLD);
    expect(said).toMatch(/error: the collector rejected \d+ spans \(refused\)/);
    expect(status).toBe(1);
  });

  test('goes to another collector when one is named, tracing being off in the file or not', async () => {
    await record();
    await configure('enabled = false');
    expect(await run('--since', OLD)).toMatchObject({
      status: 1,
      said: expect.stringContaining(
        'error: tracing is off ([tracing] enabled is false); name a collector with',
      ),
    });
    expect(await run('--since', OLD, '--endpoint', sink.url)).toMatchObject({ status: 0 });
    expect(sink.spans.length).toBeGreaterThan(10);
    expect(await run('--since', OLD, '--endpoint', 'nowhere')).toMatchObject({
      status: 1,
      said: expect.stringContaining('error: --endpoint: [tracing] endpoint: "nowhere" is neither'),
    });
  });

  test('wants to know which items', async () => {
    expect((await run()).said).toContain('select items: --since 24h');
    expect((await run('--item', 'master/login')).said).toContain('"master/login" is not the uuid of an item');
    expect(await run('--since', 'yesterday')).toMatchObject({
      status: 2,
      said: expect.stringContaining('It must be like 24h, 7d or 2026-11-21T08:00:00Z.'),
    });
  });

  test('is refused without a history, and with one no service of this version has written to', async () => {
    expect((await run('--since', '1h')).said).toMatch(/error: there is no history at .*history.sqlite;/);
    await record(false);
    expect((await run('--since', '1h')).said).toContain(
      'no service of this version has written to the history',
    );
  });
});
