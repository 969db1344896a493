import { describe, expect, it } from 'vitest';
import { addMilliseconds, parseNanoseconds } from '../../../src/lib/clock.ts';
import { derivedUuid, spanIdOf, traceIdOf } from '../../../src/lib/ids.ts';
import { searchUrl, uiUrl } from '../../../src/tracing/ui-url.ts';

const item = derivedUuid('item');
const target = { traceId: traceIdOf(item), spanId: spanIdOf(item) };
const start = parseNanoseconds('1795000000123456789');
const jaeger = {
  template: 'http://localhost:16686/trace/{trace_id}?uiFind={span_id}',
  service: 'gate & house',
};

describe('a link into the tracing backend', () => {
  it('fills the default template of Jaeger, which needs no time: a trace of three days ago is found by its id', () => {
    const end = addMilliseconds(start, 3 * 86_400_000);
    expect(uiUrl(jaeger, { ...target, start, end })).toBe(
      `http://localhost:16686/trace/${item}?uiFind=${spanIdOf(item)}`,
    );
  });

  it('fills times in every unit, a day on for an open span', () => {
    const ui = {
      ...jaeger,
      template: 'http://t/{trace_id}?{start}-{end}&{start_us}-{end_us}&{start_ns}-{end_ns}&s={service}',
    };
    expect(uiUrl(ui, { ...target, start, end: addMilliseconds(start, 1000) })).toBe(
      `http://t/${item}?1795000000123-1795000001123&1795000000123456-1795000001123456&1795000000123456789-1795000001123456789&s=gate%20%26%20house`,
    );
    expect(uiUrl({ ...ui, template: 'http://t/{start}-{end}' }, { ...target, start, end: null })).toBe(
      'http://t/1795000000123-1795086400123',
    );
  });

  it('leaves what it does not know', () => {
    expect(uiUrl({ ...jaeger, template: 'http://t/{nonsense}/{trace_id}/{end}' }, target)).toBe(
      `http://t/{nonsense}/${item}/`,
    );
  });

  it('is none unless it is an http address', () => {
    expect(uiUrl({ ...jaeger, template: 'javascript:alert({trace_id})' }, target)).toBeNull();
  });
});

describe('a search in Jaeger', () => {
  it('asks for the service, the attributes and a stretch of time with a margin', () => {
    const end = addMilliseconds(start, 1000);
    const address = searchUrl(
      { ...jaeger, template: 'https://jaeger.example/ui/trace/{trace_id}' },
      { tags: { 'gatehouse.event.id': 'a1' }, start, end },
    );
    const url = new URL(address ?? '');
    expect(`${url.origin}${url.pathname}`).toBe('https://jaeger.example/ui/search');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      service: 'gate & house',
      tags: '{"gatehouse.event.id":"a1"}',
      start: '1794999940123456',
      end: '1795000061123456',
      lookback: 'custom',
      limit: '100',
    });
  });

  it('is not offered for other viewers', () => {
    const grafana = { ...jaeger, template: 'http://grafana/explore?trace={trace_id}&from={start}&to={end}' };
    expect(searchUrl(grafana, { tags: {}, start, end: null })).toBeNull();
  });
});
