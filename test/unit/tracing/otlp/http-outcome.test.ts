import { describe, expect, it } from 'vitest';
import { type HttpAnswer, outcomeOfAnswer } from '../../../../src/tracing/otlp/http-outcome.ts';
import { retryAfterMs } from '../../../../src/tracing/otlp/retry-after.ts';
import { partialResponse, statusBody } from '../../../fake/otlp/sink-answer.ts';

const NOW = 'Sun, 22 Nov 2026 06:00:00 GMT';

function outcome(status: number, more: Partial<HttpAnswer> = {}) {
  const nothing = { date: NOW, retryAfter: undefined, location: undefined, body: new Uint8Array() };
  return outcomeOfAnswer({ status, ...nothing, ...more });
}

describe('an HTTP answer', () => {
  it.each([
    [200, 'delivered'],
    [202, 'delivered'],
    [301, 'lost'],
    [400, 'lost'],
    [401, 'lost'],
    [404, 'lost'],
    [408, 'lost'],
    [413, 'too-large'],
    [429, 'again'],
    [500, 'lost'],
    [501, 'lost'],
    [502, 'again'],
    [503, 'again'],
    [504, 'again'],
  ] as const)('%i means %s', (status, kind) => {
    expect(outcome(status).kind).toBe(kind);
  });

  it('says what the collector said, on one line and not at any length', () => {
    expect(outcome(400, { body: statusBody('no such\n tenant') })).toEqual({
      kind: 'lost',
      reason: 'refused',
      text: 'HTTP 400: no such tenant',
    });
    expect(outcome(502, { body: Buffer.from(`<html>${'x'.repeat(5000)}`) })).toMatchObject({
      text: expect.stringMatching(/^HTTP 502: <html>x{294}$/),
    });
    expect(outcome(403)).toEqual({ kind: 'lost', reason: 'unauthenticated', text: 'HTTP 403' });
  });

  it('that points elsewhere says where', () => {
    expect(outcome(307, { location: 'https://login.example.org/' })).toMatchObject({
      kind: 'lost',
      text: 'HTTP 307 to https://login.example.org/: not followed; the endpoint is wrong',
    });
  });

  it('that leaves some spans out says how many and why', () => {
    expect(outcome(200, { body: partialResponse(300, 'too old') })).toEqual({
      kind: 'delivered',
      refused: { spans: 300, text: 'too old' },
    });
    expect(outcome(200, { body: partialResponse(0, 'slow down') })).toEqual({
      kind: 'delivered',
      refused: { spans: 0, text: 'slow down' },
    });
    expect(outcome(200, { body: partialResponse(0, '') })).toEqual({ kind: 'delivered', refused: undefined });
  });

  it('of something that is no collector is taken at its word, with a complaint', () => {
    expect(outcome(200, { body: Buffer.from('<!doctype html>') })).toEqual({
      kind: 'delivered',
      refused: { spans: 0, text: 'the answer cannot be read; is this a collector?' },
    });
  });
});

describe('Retry-After', () => {
  it.each([
    ['3', 3000],
    [' 120 ', 120_000],
    ['Sun, 22 Nov 2026 06:00:42 GMT', 42_000],
    ['Sun, 22 Nov 2026 05:00:00 GMT', 0],
    ['-3', undefined],
    ['soon', undefined],
    ['', undefined],
    ['2026-11-22', undefined],
    [undefined, undefined],
  ])('%s is %s ms', (header, ms) => {
    expect(retryAfterMs(header, NOW)).toBe(ms);
  });

  it('that names a date in an answer without one says nothing', () => {
    expect(retryAfterMs('Sun, 22 Nov 2026 06:00:42 GMT', undefined)).toBeUndefined();
  });
});
