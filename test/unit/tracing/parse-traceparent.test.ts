import { describe, expect, test } from 'vitest';
import { parseTraceparent } from '../../../src/tracing/parse-traceparent.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const span = { traceId: TRACE, spanId: SPAN };

describe('a traceparent', () => {
  test.each([
    [`00-${TRACE}-${SPAN}-01`, true],
    [`00-${TRACE}-${SPAN}-00`, false],
    [`00-${TRACE}-${SPAN}-03`, true],
    [`cc-${TRACE}-${SPAN}-01-what-the-future-will-be-like`, true],
    [` 00-${TRACE}-${SPAN}-02 `, false],
  ])('%s is understood', (text, sampled) => {
    expect(parseTraceparent(text)).toEqual({ span, sampled });
  });

  test.each([
    [undefined],
    [''],
    [`00-${TRACE}-${SPAN}`],
    [`00-${TRACE.toUpperCase()}-${SPAN}-01`],
    [`00-${'0'.repeat(32)}-${SPAN}-01`],
    [`00-${TRACE}-${'0'.repeat(16)}-01`],
    [`ff-${TRACE}-${SPAN}-01`],
    [`00-${TRACE}-${SPAN}-01-more`],
    [`00-${TRACE}-${SPAN}-1`],
    [`00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    [`cc-${TRACE}-${SPAN}-01-${'x'.repeat(300)}`],
  ])('%s is none', text => {
    expect(parseTraceparent(text)).toBeUndefined();
  });
});
