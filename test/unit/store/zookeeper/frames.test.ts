import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FrameSplitter } from '../../../../src/store/zookeeper/frames.ts';
import { processorTime } from '../../../fake/processor-time.ts';

const framed = (body: Uint8Array): Buffer => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.byteLength);
  return Buffer.concat([length, body]);
};

describe('frames', () => {
  test('come out whole and in order, however the bytes were cut', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), fc.array(fc.nat(60)), (bodies, cuts) => {
        const stream = Buffer.concat(bodies.map(framed));
        const splitter = new FrameSplitter();
        const seen: Buffer[] = [];
        let at = 0;
        for (const cut of [...cuts, stream.byteLength]) {
          // Empty chunks add nothing, but must do no harm.
          seen.push(...splitter.push(stream.subarray(at, at + cut)));
          at = Math.min(stream.byteLength, at + cut);
        }
        expect(seen.map(frame => [...frame])).toEqual(bodies.map(body => [...body]));
      }),
    );
  });

  test('a length that cannot be is an error', () => {
    expect(() => new FrameSplitter().push(Buffer.of(0xff, 0, 0, 0))).toThrow(RangeError);
    expect(() => new FrameSplitter().push(Buffer.from('HTTP/1.1 400 Bad Request'))).toThrow(RangeError);
  });

  test('a large frame in many chunks is joined once', () => {
    const splitter = new FrameSplitter();
    const body = Buffer.alloc(8 * 1024 * 1024, 7);
    const stream = framed(body);
    let frames: readonly Buffer[] = [];
    const cost = processorTime(() => {
      for (let at = 0; at < stream.byteLength; at += 1024)
        frames = splitter.push(stream.subarray(at, at + 1024));
    });
    expect(frames[0]?.equals(body)).toBe(true);
    // Joining with each chunk would copy 32 GiB.
    expect(cost).toBeLessThan(1_000);
  });
});
