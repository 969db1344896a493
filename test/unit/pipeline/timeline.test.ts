import { describe, expect, it } from 'vitest';
import { addMilliseconds, parseNanoseconds } from '../../../src/lib/clock.ts';
import { inState } from '../../../src/pipeline/timeline.ts';
import { World } from './world.ts';

const start = parseNanoseconds('1700000001000000000');
const later = addMilliseconds(start, 10);
const evenLater = addMilliseconds(start, 20);

function itemOf() {
  const world = new World();
  const gate = world.pipeline('gate', { manager: 'dependent' });
  world.change('A', { project: 'app' });
  gate.enqueue('A');
  return { ...gate.item('A'), enqueuedAt: start, timeline: [{ state: 'window', since: start }] as const };
}

describe('the timeline', () => {
  it('gets an entry when the state or its subject changes, and only then', () => {
    const item = itemOf();
    expect(inState(item, { state: 'window' }, later)).toBe(item);
    const held = inState(item, { state: 'hold-following', subject: 'app B,1' }, later);
    expect(inState(held, { state: 'hold-following', subject: 'app B,1' }, evenLater)).toBe(held);
    expect(
      inState(held, { state: 'hold-following', subject: 'app C,1' }, evenLater).timeline.map(
        entry => entry.since,
      ),
    ).toEqual([start, later, evenLater]);
  });

  it('keeps no state that lasted no time', () => {
    const merged = inState(inState(itemOf(), { state: 'configure' }, later), { state: 'executor' }, later);
    expect(merged.timeline).toEqual([
      { state: 'window', since: start },
      { state: 'executor', since: later },
    ]);
    expect(inState(merged, { state: 'window' }, later).timeline).toEqual([{ state: 'window', since: start }]);
    expect(inState(itemOf(), { state: 'merge' }, start).timeline).toEqual([{ state: 'merge', since: start }]);
  });

  it('never runs backwards, even when the clock of another scheduler does', () => {
    const ahead = inState(itemOf(), { state: 'merge' }, evenLater);
    expect(inState(ahead, { state: 'executor' }, later).timeline).toEqual([
      { state: 'window', since: start },
      { state: 'executor', since: evenLater },
    ]);
  });
});
