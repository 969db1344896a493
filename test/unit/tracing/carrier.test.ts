import { describe, expect, it } from 'vitest';
import { derivedUuid, spanIdOf, traceIdOf } from '../../../src/lib/ids.ts';
import { jobEnvironment } from '../../../src/tracing/carrier.ts';
import { playbookSpanId } from '../../../src/tracing/span-ids.ts';

const item = derivedUuid('item');
const build = derivedUuid('build');
const facts = {
  traceId: traceIdOf(item),
  spanId: playbookSpanId(spanIdOf(build), 'run/test.sh', 0),
  sampled: true,
  baggage: {
    tenant: 'acme',
    pipeline: 'gate',
    item,
    buildset: derivedUuid('set'),
    build,
    job: 'unit tests, all=1',
  },
};

describe('the context of a job', () => {
  it('names the span of its playbook', () => {
    const environment = jobEnvironment(facts);
    expect(environment.TRACEPARENT).toBe(`00-${item}-${facts.spanId}-01`);
    expect(environment.TRACEPARENT).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(environment.OTEL_SERVICE_NAME).toBe('unit tests, all=1');
  });

  it('says when the trace is not recorded', () => {
    expect(jobEnvironment({ ...facts, sampled: false }).TRACEPARENT).toMatch(/-00$/);
  });

  it('carries six names as baggage, escaped, and nothing else', () => {
    const baggage = jobEnvironment(facts).BAGGAGE ?? '';
    const pairs = baggage.split(',').map(pair => pair.split('='));
    expect(pairs.map(([name]) => name)).toEqual(
      ['tenant', 'pipeline', 'item.id', 'buildset.id', 'build.id', 'job'].map(name => `gatehouse.${name}`),
    );
    expect(decodeURIComponent(pairs.at(-1)?.[1] ?? '')).toBe('unit tests, all=1');
    expect(Object.keys(jobEnvironment(facts)).sort()).toEqual([
      'BAGGAGE',
      'OTEL_RESOURCE_ATTRIBUTES',
      'OTEL_SERVICE_NAME',
      'TRACEPARENT',
      'TRACESTATE',
    ]);
  });

  it('differs between playbooks, repetitions and attempts', () => {
    const other = spanIdOf(derivedUuid('build', '2'));
    const span = spanIdOf(build);
    const ids = [
      playbookSpanId(span, 'run/test.sh', 0),
      playbookSpanId(span, 'run/test.sh', 1),
      playbookSpanId(span, 'run/other.sh', 0),
      playbookSpanId(other, 'run/test.sh', 0),
    ];
    expect(new Set(ids).size).toBe(4);
  });
});

describe('a traceparent', () => {
  it('names the trace and the span, and whether they are kept', () => {
    expect(jobEnvironment(facts).TRACEPARENT).toBe(`00-${facts.traceId}-${facts.spanId}-01`);
  });
});
