/** When hosts are asked to show where items are: by turns, at most once a minute, and never beside or after a result. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Connection } from '../../../../src/driver/connection.ts';
import type { ReporterOutcome, ReportRequest } from '../../../../src/driver/reporter.ts';
import { fromMilliseconds } from '../../../../src/lib/clock.ts';
import { randomIds } from '../../../../src/lib/ids.ts';
import type { PipelineState } from '../../../../src/model/pipeline-state.ts';
import { EMPTY_PIPELINE } from '../../../../src/model/pipeline-state.ts';
import type { QueueItem } from '../../../../src/model/queue-item.ts';
import { createLiveProgress, type InLane } from '../../../../src/scheduler/report/live-progress.ts';
import { storePaths } from '../../../../src/store/paths.ts';
import { gatePipeline } from '../../../fake/pipeline.ts';
import { itemStory, jobNode } from '../../../fake/queue-item.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MINUTE = 60_000;
const START = [{ connection: 'local', config: { check: 'in_progress' }, definedAt: 'zuul.yaml:1' }];

/** An item whose start was written, at the given place of the host. */
function started(seed: string, run: number | null = 7) {
  const story = itemStory({ seed })
    .merge()
    .merged()
    .freeze([jobNode('unit'), jobNode('lint')]);
  story.report('start').reported();
  return (change: (grown: typeof story) => unknown = () => {}): QueueItem => {
    change(story);
    const { item } = story;
    const [lead] = item.changes;
    const reports = item.reports.map(record =>
      record.done === null || run === null
        ? record
        : {
            ...record,
            done: {
              ...record.done,
              parts: record.done.parts.map(part => ({
                ...part,
                remembered: { change: lead.key, memory: { run } },
              })),
            },
          },
    );
    return { ...item, reports };
  };
}

function stateOf(...items: QueueItem[]): PipelineState {
  const queue = { key: 'integrated', name: 'integrated', window: 0, items: items.map(({ uuid }) => uuid) };
  return { ...EMPTY_PIPELINE, queues: [queue], items: new Map(items.map(item => [item.uuid, item])) };
}

function openStand(answers: readonly (ReporterOutcome | Error)[] = []) {
  const shown: ReportRequest[] = [];
  const clock = { now: () => fromMilliseconds(Date.now()), monotonic: () => Date.now() };
  const reporter = {
    async report() {
      throw new Error('nothing is reported here');
    },
    async progress(request: ReportRequest) {
      const answer = answers[shown.length] ?? ({ kind: 'done' } as const);
      shown.push(request);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  const quiet = () => {};
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => log };
  const connections = new Map([['local', { name: 'local', reporter } as unknown as Connection]]);
  const progress = createLiveProgress({
    clock,
    log,
    connections,
    ids: randomIds(),
    paths: storePaths('/gatehouse'),
  });
  const context = {
    pipeline: { ...gatePipeline(), reporters: { ...gatePipeline().reporters, start: START } },
    tenant: { name: 'acme' },
    webRoot: 'http://gate.example',
    spans: () => undefined,
    forecasts: { of: async () => new Map() },
  } as unknown as Parameters<typeof progress.observe>[1];
  const stop = new AbortController();
  const lanes: InLane = async (_, task) => task();
  return {
    shown,
    observe: (...items: QueueItem[]) => progress.observe(stateOf(...items), context),
    start: (inLane = lanes) =>
      progress.run(
        { inLane, mayAct: () => true, mayShow: async () => true, commit: async () => {} },
        stop.signal,
      ),
    pass: (ms: number) => vi.advanceTimersByTimeAsync(ms),
    stop: () => stop.abort(new Error('stopped')),
  };
}

test('an item is shown at most once a minute, and only when something differs', async () => {
  const stand = openStand();
  const ended = stand.start();
  const item = started('a');
  stand.observe(item());
  await stand.pass(MINUTE - 2_000);
  expect(stand.shown).toEqual([]);
  await stand.pass(4_000);
  expect(stand.shown).toMatchObject([
    {
      config: { check: 'in_progress' },
      earlier: { kind: 'remembered', memory: { run: 7 } },
      report: { action: 'start', progress: { ahead: 0, position: 1, running: [] } },
    },
  ]);
  // Turns that change nothing of it.
  for (let turns = 0; turns < 5; turns++) {
    stand.observe(item(), started('b', null)());
    await stand.pass(MINUTE);
  }
  expect(stand.shown).toHaveLength(1);
  // Each change of its own minute, and two of the next together.
  stand.observe(item(story => story.start('unit')));
  await stand.pass(MINUTE);
  stand.observe(item(story => story.start('lint')));
  await stand.pass(1_000);
  stand.observe(item(story => story.finish('unit', 'SUCCESS')));
  await stand.pass(2 * MINUTE);
  expect(stand.shown.map(({ report }) => report.progress?.running)).toEqual([[], ['unit'], ['lint']]);
  stand.stop();
  await ended;
});

test('an item says its place, and why it was tested again', async () => {
  const stand = openStand();
  const ended = stand.start();
  stand.observe(
    started('a', null)(),
    started('b')(story => story.reset().merge()),
  );
  await stand.pass(2 * MINUTE);
  expect(stand.shown).toMatchObject([
    { report: { progress: { ahead: 1, position: 2 }, retests: [expect.stringContaining('failed')] } },
  ]);
  stand.stop();
  await ended;
});

test('nothing is shown of items without a place at the host, nor of those whose result is decided', async () => {
  const stand = openStand();
  const ended = stand.start();
  stand.observe(
    started('a', null)(),
    started('b')(story => story.complete('FAILURE')),
    started('c')(story => story.complete('FAILURE').report()),
  );
  await stand.pass(3 * MINUTE);
  expect(stand.shown).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
  stand.stop();
  await ended;
});

test('an item whose result was decided while it waited for its lane is not shown', async () => {
  const stand = openStand();
  const lane = Promise.withResolvers<void>();
  const ended = stand.start(async (_, task) => {
    await lane.promise;
    await task();
  });
  const item = started('a');
  stand.observe(item());
  await stand.pass(2 * MINUTE);
  stand.observe(item(story => story.complete('SUCCESS').report()));
  lane.resolve();
  await stand.pass(MINUTE);
  expect(stand.shown).toEqual([]);
  stand.stop();
  await ended;
});

test('a host that does not take it is left alone as long as it says, and after an error for a minute', async () => {
  const later = { reason: 'limited', text: 'a limit', notBefore: fromMilliseconds(Date.now() + 10 * MINUTE) };
  for (const [answer, quietMinutes] of [
    [{ kind: 'later', ...later }, 8],
    [new Error('connection reset'), 1],
  ] as const) {
    const stand = openStand([answer as ReporterOutcome | Error]);
    const ended = stand.start();
    const [first, second] = [started('a'), started('b')];
    stand.observe(first(), second());
    await stand.pass(MINUTE + 2_000);
    expect(stand.shown).toHaveLength(1);
    stand.observe(
      first(story => story.start('unit')),
      second(),
    );
    await stand.pass((quietMinutes - 0.1) * MINUTE);
    expect(stand.shown).toHaveLength(1);
    await stand.pass(3 * MINUTE);
    expect(stand.shown.length).toBeGreaterThan(2);
    stand.stop();
    await ended;
  }
});
