import { PerformanceObserver } from 'node:perf_hooks';
import { describe, expect, test, vi } from 'vitest';
import { parseUuid } from '../../../src/lib/ids.ts';
import { createMetrics } from '../../../src/metrics/registry.ts';
import { rootSpanOf } from '../../../src/tracing/span-ids.ts';

const PLACE = { tenant: 'acme', pipeline: 'gate' };
const OPEN_METRICS = 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5';
const ITEM = parseUuid('5b8e2d00000040008000000000000001');

function linesOf(body: string, name: string): readonly string[] {
  return body.split('\n').filter(line => line.startsWith(name) || line.startsWith(`# TYPE ${name}`));
}

describe('metrics', () => {
  test('of the process are watched once, however many registries show them', async () => {
    const first = createMetrics();
    using observe = vi.spyOn(PerformanceObserver.prototype, 'observe');
    const second = createMetrics();
    expect(observe).not.toHaveBeenCalled();
    for (const metrics of [first, second])
      expect((await metrics.exposition(OPEN_METRICS)).body).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m);
  });

  test('counters add up, gauges are replaced, histograms sort', async () => {
    const metrics = createMetrics();
    const builds = {
      metric: 'gatehouse_builds',
      labels: { ...PLACE, job: 'unit', result: 'SUCCESS' },
      value: 1,
    } as const;
    const length = { metric: 'gatehouse_queue_length', labels: { ...PLACE, queue: 'main' } } as const;
    metrics.record([builds, builds, { ...length, value: 3 }, { ...length, value: 2 }]);
    metrics.record([{ metric: 'gatehouse_turn_seconds', labels: PLACE, value: 0.02 }]);
    const { body, contentType } = await metrics.exposition(undefined);
    expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(linesOf(body, 'gatehouse_builds_total')).toEqual([
      '# TYPE gatehouse_builds_total counter',
      'gatehouse_builds_total{tenant="acme",pipeline="gate",job="unit",result="SUCCESS"} 2',
    ]);
    expect(linesOf(body, 'gatehouse_queue_length')).toContain(
      'gatehouse_queue_length{tenant="acme",pipeline="gate",queue="main"} 2',
    );
    expect(body).toContain('gatehouse_turn_seconds_bucket{le="0.01",tenant="acme",pipeline="gate"} 0');
    expect(body).toContain('gatehouse_turn_seconds_bucket{le="0.025",tenant="acme",pipeline="gate"} 1');
  });

  test('who reads OpenMetrics finds the trace behind an observation; others read the same without it', async () => {
    const metrics = createMetrics();
    metrics.record([
      {
        metric: 'gatehouse_item_duration_seconds',
        labels: { ...PLACE, result: 'FAILURE' },
        value: 42,
        trace: rootSpanOf(ITEM),
      },
    ]);
    const open = await metrics.exposition(OPEN_METRICS);
    expect(open.contentType).toContain('application/openmetrics-text');
    expect(open.body).toMatch(
      /gatehouse_item_duration_seconds_bucket\{le="60",.*\} 1 # \{trace_id="5b8e2d00000040008000000000000001",span_id="5b8e2d0000004000"\} 42 /,
    );
    expect(open.body.trimEnd().endsWith('# EOF')).toBe(true);
    const plain = await metrics.exposition('text/plain');
    expect(plain.body).not.toContain('trace_id');
    expect(plain.body).not.toContain('# EOF');
    const again = await metrics.exposition(OPEN_METRICS);
    expect(linesOf(again.body, 'gatehouse_item')).toEqual(linesOf(open.body, 'gatehouse_item'));
  });

  test('ten thousand job names are two hundred and "other"', async () => {
    const metrics = createMetrics();
    for (let job = 0; job < 10_000; job++)
      metrics.record([
        { metric: 'gatehouse_builds', labels: { ...PLACE, job: `job-${job}`, result: 'SUCCESS' }, value: 1 },
      ]);
    const { body } = await metrics.exposition(undefined);
    const samples = linesOf(body, 'gatehouse_builds_total{');
    expect(samples).toHaveLength(201);
    expect(samples).toContain(
      'gatehouse_builds_total{tenant="acme",pipeline="gate",job="other",result="SUCCESS"} 9800',
    );
    expect(body).toContain('gatehouse_metric_labels_overflowed_total{label="job"} 9800');
  });

  test('what a pipeline held is forgotten when another scheduler holds it, counters stay', async () => {
    const metrics = createMetrics();
    const other = { tenant: 'acme', pipeline: 'check' };
    metrics.record([
      { metric: 'gatehouse_queue_length', labels: { ...PLACE, queue: 'main' }, value: 3 },
      { metric: 'gatehouse_queue_length', labels: { ...other, queue: 'main' }, value: 1 },
      { metric: 'gatehouse_resets', labels: { ...PLACE, cause: 'item-ahead-failed', job: 'unit' }, value: 1 },
    ]);
    metrics.forget(PLACE);
    const { body } = await metrics.exposition(undefined);
    expect(linesOf(body, 'gatehouse_queue_length{')).toEqual([
      'gatehouse_queue_length{tenant="acme",pipeline="check",queue="main"} 1',
    ]);
    expect(linesOf(body, 'gatehouse_resets_total{')).toHaveLength(1);
  });

  test('what is looked up is read anew each time', async () => {
    const metrics = createMetrics();
    let sent = 10;
    const source = metrics.source(() => [{ metric: 'gatehouse_spans_sent', labels: {}, value: sent }]);
    expect((await metrics.exposition(undefined)).body).toContain('gatehouse_spans_sent_total 10');
    sent = 25;
    expect((await metrics.exposition(undefined)).body).toContain('gatehouse_spans_sent_total 25');
    source[Symbol.dispose]();
    expect((await metrics.exposition(undefined)).body).not.toContain('gatehouse_spans_sent_total 25');
  });
  test('values that a source no longer returns are gone, as are values beyond the bound', async () => {
    const metrics = createMetrics();
    let sessions = ['web', 'executor'];
    metrics.source(() =>
      sessions.map(session => ({ metric: 'gatehouse_store_session', labels: { session }, value: 1 })),
    );
    const seen = async () => linesOf((await metrics.exposition(undefined)).body, 'gatehouse_store_session{');
    expect(await seen()).toEqual([
      'gatehouse_store_session{session="web"} 1',
      'gatehouse_store_session{session="executor"} 1',
    ]);
    sessions = ['executor'];
    expect(await seen()).toEqual(['gatehouse_store_session{session="executor"} 1']);
    sessions = Array.from({ length: 90 }, (_, index) => `session-${index}`);
    const bounded = await seen();
    expect(bounded).toHaveLength(49);
    expect(bounded).toContain('gatehouse_store_session{session="other"} 42');
  });

  test('counts of the same thing in one turn are one count', async () => {
    const metrics = createMetrics();
    const lost = { metric: 'gatehouse_lost_build_seconds', labels: { ...PLACE, job: 'unit' } } as const;
    metrics.record([
      { ...lost, value: 1.5 },
      { ...lost, labels: { ...lost.labels, job: 'docs' }, value: 1 },
      { ...lost, value: 2 },
    ]);
    const { body } = await metrics.exposition(undefined);
    expect(linesOf(body, 'gatehouse_lost_build_seconds_total{')).toEqual([
      'gatehouse_lost_build_seconds_total{tenant="acme",pipeline="gate",job="unit"} 3.5',
      'gatehouse_lost_build_seconds_total{tenant="acme",pipeline="gate",job="docs"} 1',
    ]);
  });
});
