import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { retryDelayOf } from '../../../../src/tracing/otlp/retry-info.ts';
import { retryInfo } from '../../../fake/otlp-sink.ts';

describe('RetryInfo', () => {
  it.each([0, 1, 250, 999, 1000, 2500, 70_001, 3_600_000])('of %i ms is read', ms => {
    expect(retryDelayOf(retryInfo(8, ms))).toBe(ms);
  });

  it('is undefined in a trailer without it', () => {
    expect(retryDelayOf(new Uint8Array())).toBeUndefined();
    expect(retryDelayOf(Buffer.from([0x08, 0x0e]))).toBeUndefined();
  });

  it('never throws, for any answer', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), bytes => {
        expect(['undefined', 'number']).toContain(typeof retryDelayOf(bytes));
      }),
      { numRuns: 2000 },
    );
    const whole = retryInfo(8, 70_001);
    for (let end = 0; end < whole.length; end++)
      expect(() => retryDelayOf(whole.subarray(0, end))).not.toThrow();
  });
});
