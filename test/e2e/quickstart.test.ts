/** The quickstart as a newcomer runs it in a fresh clone: one command, real processes, a collector listening. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../src/cmd/quickstart/service-process.ts';
import type { QueueItem } from '../../src/model/queue-item.ts';
import { checkTraces, type OtlpSink, startOtlpSink } from '../fake/otlp-sink.ts';
import { noteStory } from '../fake/produced/note-story.ts';
import { brokenChains, itemRoots, unfinished } from './event-chains.ts';
import {
  gitText,
  itemProblems,
  itemsInHistory,
  landedCommits,
  landedTwice,
  refsOf,
  untestedLandings,
} from './landed.ts';

interface Report {
  readonly version: number;
  readonly duration_ms: number;
  readonly changes: readonly {
    readonly project: string;
    readonly change: string;
    readonly commit: string;
    readonly result: string;
    readonly merged: boolean;
    readonly resets: readonly { readonly cause: string; readonly culprit: string | null }[];
    readonly trace_id: string;
    readonly enqueued_ns: string;
    readonly dequeued_ns: string;
  }[];
  readonly repositories: { readonly [name: string]: string };
  readonly spans_exported: number;
}

/** Milliseconds: a loaded machine takes half a minute. */
const LIMIT = 240_000;
/** Nanoseconds that a test of acme/app sleeps in the gate before it can fail. */
const SLEEP_OF_APP_NS = 3_000_000_000n;
const MAIN = path.resolve(import.meta.dirname, '../../src/cmd/main.ts');

describe('npm run quickstart -- --once --json', () => {
  let directory: string;
  let sink: OtlpSink;
  let output: { readonly code: number | null; readonly text: string };
  let report: Report;
  let gateItems: readonly QueueItem[];

  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-quickstart-'));
    sink = await startOtlpSink();
    output = await runQuickstart(directory, sink.url);
    if (output.code !== 0) throw new Error(`it ended with ${output.code}:\n${output.text}`);
    report = JSON.parse(await readFile(path.join(directory, 'report.json'), 'utf8'));
    gateItems = (await itemsInHistory(path.join(directory, 'site/state'), 'acme')).filter(
      item => item.pipeline === 'gate',
    );
  }, LIMIT);

  afterAll(async () => {
    noteStory(sink.spans, path.join(directory, 'site/state'));
    await sink[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  const outcome = (topic: string) => report.changes.find(each => each.change === `master/${topic}`);
  const itemOf = (traceId: string) => gateItems.find(item => item.uuid === traceId);

  /** When the build of a change that failed was known to have failed. */
  function failureOf(topic: string): bigint {
    const builds = itemOf(outcome(topic)?.trace_id ?? '')?.buildset.builds ?? [];
    const failed = builds.flatMap(({ state }) =>
      state.state === 'completed' && state.result === 'FAILURE' ? BigInt(state.at) : [],
    );
    return failed[0] ?? 0n;
  }

  test('says how each of the six changes ended, with exact times', () => {
    expect(report.version).toBe(1);
    expect(report.duration_ms).toBeGreaterThan(0);
    expect(Object.keys(report.repositories).sort()).toEqual(['acme/api', 'acme/app', 'acme/config']);
    expect(
      report.changes.map(({ project, change, result, merged }) => ({ project, change, result, merged })),
    ).toEqual([
      { project: 'acme/app', change: 'master/greeting', result: 'SUCCESS', merged: true },
      { project: 'acme/app', change: 'master/rename-total', result: 'SUCCESS', merged: true },
      { project: 'acme/app', change: 'master/discount', result: 'FAILURE', merged: false },
      { project: 'acme/api', change: 'master/basket-route', result: 'SUCCESS', merged: true },
      { project: 'acme/app', change: 'master/total-in-euros', result: 'MERGE_CONFLICT', merged: false },
      { project: 'acme/api', change: 'master/health-details', result: 'SUCCESS', merged: true },
    ]);
    for (const change of report.changes) {
      expect(Object.keys(change)).toEqual([
        'project',
        'change',
        'commit',
        'result',
        'merged',
        'resets',
        'trace_id',
        'enqueued_ns',
        'dequeued_ns',
      ]);
      expect(change.commit).toMatch(/^[0-9a-f]{40}$/);
      expect(change.trace_id).toMatch(/^[0-9a-f]{32}$/);
      expect(change.enqueued_ns).toMatch(/^\d{19}$/);
      expect(BigInt(change.dequeued_ns)).toBeGreaterThan(BigInt(change.enqueued_ns));
    }
  });

  test('names the change that failed as the culprit of each reset behind it', () => {
    // On a busy machine the next approvals may come after the failure: there is nothing to reset then.
    const entered = (topic: string) => BigInt(outcome(topic)?.enqueued_ns ?? 0);
    const behind = ['basket-route', 'health-details'].filter(topic => entered(topic) < failureOf('discount'));
    if (entered('basket-route') - entered('discount') < SLEEP_OF_APP_NS)
      expect(behind).toContain('basket-route');
    for (const topic of behind) {
      const failed = outcome(topic)?.resets.filter(reset => reset.cause === 'item-ahead-failed') ?? [];
      expect(failed.map(reset => reset.culprit)).toEqual([
        expect.stringContaining('acme/app master/discount,'),
      ]);
    }
    const causes = report.changes.flatMap(change => change.resets.map(reset => reset.cause));
    expect(causes.every(cause => cause === 'item-ahead-failed' || cause === 'item-ahead-conflict')).toBe(
      true,
    );
    expect(outcome('greeting')?.resets).toEqual([]);
    expect(outcome('rename-total')?.resets).toEqual([]);
  });

  test('lands the good changes in queue order and nothing else', async () => {
    const subjects = async (project: string) =>
      (await landedCommits(report.repositories[project] ?? '')).map(each => each.subject);
    expect(await subjects('acme/app')).toEqual([
      'Merge acme/app master/greeting',
      'Merge acme/app master/rename-total',
    ]);
    expect(await subjects('acme/api')).toEqual([
      'Merge acme/api master/basket-route',
      'Merge acme/api master/health-details',
    ]);
    expect(await subjects('acme/config')).toEqual([]);
    const order = gateItems.toSorted((a, b) => Number(BigInt(a.enqueuedAt) - BigInt(b.enqueuedAt)));
    expect(order.map(item => item.uuid)).toEqual(report.changes.map(change => change.trace_id));
  });

  test('lands exactly the commits that were tested, each on the one before', async () => {
    for (const project of ['acme/app', 'acme/api']) {
      const bare = report.repositories[project] ?? '';
      const landed = await landedCommits(bare);
      expect(landedTwice(landed)).toEqual([]);
      expect(untestedLandings(landed, project, gateItems)).toEqual([]);
      landed.slice(1).forEach((each, index) => {
        expect(each.before).toBe(landed[index]?.commit);
      });
      expect(await gitText(bare, 'rev-parse', 'master')).toBe(landed.at(-1)?.commit);
    }
    expect(gateItems.flatMap(itemProblems)).toEqual([]);
  });

  test('takes proposal and approval of landed changes away and leaves those of the others', async () => {
    const named = (refs: ReadonlyMap<string, string>) =>
      [...refs.keys()].filter(name => name.startsWith('refs/heads/')).sort();
    expect(named(await refsOf(report.repositories['acme/app'] ?? ''))).toEqual([
      'refs/heads/for/master/discount',
      'refs/heads/for/master/total-in-euros',
      'refs/heads/gate/master/discount',
      'refs/heads/gate/master/total-in-euros',
      'refs/heads/master',
    ]);
    expect(named(await refsOf(report.repositories['acme/api'] ?? ''))).toEqual(['refs/heads/master']);
  });

  test('writes its verdicts as notes on the proposed commits', async () => {
    for (const change of report.changes) {
      const note = await gitText(
        report.repositories[change.project] ?? '',
        'notes',
        '--ref=gatehouse',
        'show',
        change.commit,
      );
      expect(note).toContain('Build succeeded (check).');
      expect(note).toContain(`Gatehouse: acme gate`);
      expect(note).toContain(`item ${change.trace_id}`);
      if (change.resets.length > 0) expect(note).toContain('Tested again because');
    }
  });

  test('sends spans without a flaw: one root per item, no orphan, every wait and build explained', () => {
    expect(unfinished(sink.spans).map(span => span.name)).toEqual([]);
    expect(checkTraces(sink.spans)).toEqual([]);
    expect(brokenChains(sink.spans)).toEqual([]);
    const roots = itemRoots(sink.spans);
    for (const change of report.changes) {
      const [root, ...more] = roots.get(change.trace_id) ?? [];
      expect(more).toEqual([]);
      expect(root).toMatchObject({ start: BigInt(change.enqueued_ns), end: BigInt(change.dequeued_ns) });
      expect(root?.attributes['gatehouse.result']).toBe(change.result);
      expect(root?.attributes['gatehouse.resets']).toBe(change.resets.length);
    }
  });

  test('sends a span for every build there was, the cancelled ones too', () => {
    for (const change of report.changes) {
      const item = itemOf(change.trace_id);
      const builds = [...(item?.earlier ?? []), ...(item === undefined ? [] : [item.buildset])].flatMap(
        each => each.builds,
      );
      const sent = sink.spans.filter(
        span => span.traceId === change.trace_id && span.attributes['gatehouse.span.type'] === 'Build',
      );
      expect(new Set(sent.map(span => span.attributes['gatehouse.build.id']))).toEqual(
        new Set(builds.filter(build => build.state.state !== 'skipped').map(build => build.uuid)),
      );
      for (const span of sent.filter(each => each.attributes['gatehouse.result'] === 'CANCELED')) {
        expect(span.attributes['gatehouse.cause.code']).toBe('reset');
      }
    }
  });

  test('counts the spans the collector has taken', () => {
    expect(report.spans_exported).toBeGreaterThan(100);
    // The count is the sender's last report, up to a second old; what ends later (a sweep, the stop of the service) is sent too.
    expect(report.spans_exported).toBeLessThanOrEqual(sink.spans.length);
    expect(report.spans_exported).toBeGreaterThan(0.8 * sink.spans.length);
  });
});

async function runQuickstart(
  directory: string,
  endpoint: string,
): Promise<{ readonly code: number | null; readonly text: string }> {
  const port = await freePort(0);
  const args = [
    MAIN,
    'quickstart',
    '--once',
    '--json',
    path.join(directory, 'report.json'),
    '--directory',
    path.join(directory, 'site'),
    '--port',
    String(port),
  ];
  const child = spawn(process.execPath, args, {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (text += String(chunk)));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', code => resolve({ code, text }));
  });
}
