import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { derivedUuid, sha256, type Uuid } from '../../../src/lib/ids.ts';
import { isSampled, traceStateOf } from '../../../src/tracing/sampling.ts';

const event = fc.nat().map(seed => derivedUuid('event', String(seed)));
const ratio = fc.double({ min: 0, max: 1, noNaN: true });

/** A consistent probability sampler further down, as the standard describes it. */
function keepsBelow(traceState: string, share: number): boolean {
  const drawn = BigInt(`0x${/rv:([0-9a-f]{14})/.exec(traceState)?.[1]}`);
  return drawn >= BigInt(Math.round((1 - share) * 2 ** 56));
}

describe('sampling by ratio', () => {
  it('keeps everything at 1 and nothing at 0', () => {
    fc.assert(
      fc.property(event, uuid => {
        expect([isSampled(uuid, 1), isSampled(uuid, 0)]).toEqual([true, false]);
      }),
    );
  });

  it('keeps about the share that was asked for', () => {
    const events = Array.from({ length: 5000 }, (_, index) => derivedUuid('event', String(index)));
    expect(events.filter(uuid => isSampled(uuid, 0.3)).length / events.length).toBeCloseTo(0.3, 1);
  });

  it('keeps with a smaller ratio only what a larger one keeps', () => {
    fc.assert(
      fc.property(event, ratio, ratio, (uuid, a, b) => {
        if (isSampled(uuid, Math.min(a, b))) expect(isSampled(uuid, Math.max(a, b))).toBe(true);
      }),
    );
  });
});

describe('the trace state of an event', () => {
  it('lets a sampler further down decide as we do', () => {
    fc.assert(
      fc.property(event, ratio, ratio, (uuid, ours, theirs) => {
        const state = traceStateOf(uuid, isSampled(uuid, ours), ours);
        expect(keepsBelow(state, theirs)).toBe(isSampled(uuid, theirs));
      }),
    );
  });

  it('is the number drawn, with the threshold when there is one', () => {
    const kept = eventDrawn(digit => digit >= 'c');
    const drawn = sha256(kept).slice(0, 14);
    expect(traceStateOf(kept, true, 1)).toBe(`ot=rv:${drawn}`);
    expect(traceStateOf(kept, true, 0.5)).toBe(`ot=th:8;rv:${drawn}`);
    expect(traceStateOf(kept, true, 0.3)).toMatch(/^ot=th:b333333333333[0-9a-f]?;rv:[0-9a-f]{14}$/);
    expect(traceStateOf(kept, false, 0.3)).toBe(`ot=rv:${drawn}`);
  });

  it('sends no threshold that contradicts the decision', () => {
    const left = eventDrawn(digit => digit < '8');
    expect(traceStateOf(left, true, 0.5)).toBe(`ot=rv:${sha256(left).slice(0, 14)}`);
  });
});

function eventDrawn(wanted: (firstDigit: string) => boolean): Uuid {
  for (let index = 0; ; index++) {
    const uuid = derivedUuid('drawn', String(index));
    if (wanted(sha256(uuid).charAt(0))) return uuid;
  }
}
