import { describe, expect, test } from 'vitest';
import { addMilliseconds, type Nanoseconds } from '../../../../src/lib/clock.ts';
import { pipelineCountersCodec } from '../../../../src/model/codec/records.ts';
import { EMPTY_PIPELINE, type PipelineState } from '../../../../src/model/pipeline-state.ts';
import type { Holder } from '../../../../src/model/takeover.ts';
import { arrivalAt, noteRelease } from '../../../../src/scheduler/turn/arrival.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { create } from '../../../../src/store/port.ts';
import { at, itemStory } from '../../../fake/queue-item.ts';
import { openStand, type Stand } from '../stand.ts';

const SECOND = 1000;
/** When the item was enqueued: the last thing the holder before wrote. */
const WRITTEN = at(0);

function heldBy(holder: Holder | undefined): PipelineState {
  const { item } = itemStory();
  return {
    ...EMPTY_PIPELINE,
    items: new Map([[item.uuid, item]]),
    ...(holder === undefined ? {} : { holder }),
  };
}

const ONE: Holder = { name: 'ci1/7', session: 'gone', since: addMilliseconds(WRITTEN, -60 * SECOND) };

async function sign(stand: Stand, session: string, time: Nanoseconds): Promise<void> {
  await ensureNode(stand.store, stand.paths.signs);
  await stand.store.multi([create(stand.paths.sign(session), new TextEncoder().encode(time))]);
}

const come = (stand: Stand, state: PipelineState, now: Nanoseconds) =>
  arrivalAt(state, { ...stand, name: 'ci2/9', clock: { now: () => now } });

const later = (seconds: number) => addMilliseconds(WRITTEN, seconds * SECOND);

describe('a scheduler that comes to a pipeline', () => {
  test('counts from the last sign of life of the one before, not from its last turn: an idle hour was no outage', async () => {
    await using stand = openStand();
    await sign(stand, 'gone', later(3600));
    const { holder, takeover } = await come(stand, heldBy(ONE), later(3606));
    expect(takeover).toEqual({
      from: 'ci1/7',
      to: 'ci2/9',
      how: 'lost',
      since: later(3600),
      at: later(3606),
    });
    expect(holder).toEqual({ name: 'ci2/9', session: stand.store.sessionId, since: later(3606) });
  });

  test('counts from what was written last, when that is later or there is no sign', async () => {
    await using stand = openStand();
    expect((await come(stand, heldBy(ONE), later(6))).takeover?.since).toBe(WRITTEN);
    await sign(stand, 'gone', later(-2));
    expect((await come(stand, heldBy(ONE), later(6))).takeover?.since).toBe(WRITTEN);
  });

  test('counts from when the one before gave it up', async () => {
    await using stand = openStand();
    await sign(stand, 'gone', later(1));
    const { takeover } = await come(stand, heldBy({ ...ONE, until: later(3) }), later(3.01));
    expect(takeover).toMatchObject({ how: 'released', since: later(3), at: later(3.01) });
  });

  test('has no time before its start, with any clock of the other', async () => {
    await using stand = openStand();
    await sign(stand, 'gone', later(3600));
    expect((await come(stand, heldBy(ONE), later(6))).takeover).toMatchObject({
      since: later(6),
      at: later(6),
    });
  });

  test('is the one it was when it was only out of contact', async () => {
    await using stand = openStand();
    const self = { ...ONE, session: stand.store.sessionId };
    expect(await come(stand, heldBy(self), later(60))).toEqual({ holder: self, takeover: null });
    const paused = await come(stand, heldBy({ ...self, until: later(1) }), later(60));
    expect(paused.takeover).toMatchObject({ how: 'released', since: later(1), at: later(60) });
  });

  test('is no takeover without an earlier holder, or without items', async () => {
    await using stand = openStand();
    expect((await come(stand, heldBy(undefined), later(6))).takeover).toBeNull();
    expect((await come(stand, { ...EMPTY_PIPELINE, holder: ONE }, later(6))).takeover).toBeNull();
  });
});

describe('a scheduler that goes in order', () => {
  const open = async (stand: Stand) => {
    const counters = '/state';
    await ensureNode(stand.store, counters);
    const stored = async () => {
      const data = (await stand.store.get(counters))?.data;
      return data === undefined || data.length === 0 ? undefined : pipelineCountersCodec.decode(data);
    };
    return { stored, deps: { ...stand, counters } };
  };

  test('writes down when, once it has been there', async () => {
    await using stand = openStand();
    const fence = await stand.fence('gate');
    const { stored, deps } = await open(stand);
    const state = { ...heldBy(ONE), consecutiveFailures: 2 };
    await noteRelease(state, { holder: { ...ONE, session: 'other' }, takeover: null }, fence, deps);
    expect(await stored()).toBeUndefined();
    await noteRelease(state, { holder: ONE, takeover: null }, fence, deps);
    const until = (await stored())?.holder?.until;
    expect(await stored()).toMatchObject({ consecutiveFailures: 2, holder: { ...ONE, until } });
    expect(until).toMatch(/^\d{19}$/);
  });

  test('writes nothing into an empty pipeline, nor when another one has it already', async () => {
    await using stand = openStand();
    const fence = await stand.fence('gate');
    const { stored, deps } = await open(stand);
    await noteRelease({ ...EMPTY_PIPELINE, holder: ONE }, { holder: ONE, takeover: null }, fence, deps);
    await fence.release();
    await noteRelease(heldBy(ONE), { holder: ONE, takeover: null }, fence, deps);
    expect(await stored()).toBeUndefined();
  });
});
