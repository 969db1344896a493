import { expect, test } from 'vitest';
import { spansFromOtlp } from '../../../src/cmd/client/spans-from-otlp.ts';
import type { SpanId, TraceId } from '../../../src/lib/ids.ts';
import type { SpanRecord } from '../../../src/model/span.ts';
import { ownOtlpJson } from '../../../src/web/otlp-json.ts';
import { INSTALLATION } from '../../fake/installation.ts';
import { before } from './fixture.ts';

const common = { traceId: 'a'.repeat(32) as TraceId, kind: 'internal' as const, links: [], events: [] };
const root: SpanRecord = {
  ...common,
  spanId: '1'.repeat(16) as SpanId,
  parent: null,
  name: 'QueueItem gate',
  start: before(10),
  end: before(1),
  attributes: { text: 'x', whole: 3, broken: 0.5, yes: true, no: false, list: ['a', 'b'] },
  events: [{ at: before(5), name: 'reset', attributes: { why: 'a' } }],
  links: [{ traceId: 'b'.repeat(32) as TraceId, spanId: '2'.repeat(16) as SpanId, attributes: {} }],
  status: { code: 'error', message: 'it failed' },
};
const open: SpanRecord = {
  ...common,
  spanId: '3'.repeat(16) as SpanId,
  parent: root.spanId,
  name: 'Build',
  kind: 'client',
  start: before(8),
  end: null,
  attributes: {},
  status: { code: 'unset' },
};

test('spans read from the answer of the web are those it was made of, open ones marked', () => {
  const read = spansFromOtlp(JSON.parse(JSON.stringify(ownOtlpJson([root, open], INSTALLATION))));
  expect(read).toEqual([root, { ...open, attributes: { 'gatehouse.open': true } }]);
});
