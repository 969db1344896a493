import { describe, expect, test } from 'vitest';
import { addMilliseconds, type Nanoseconds } from '../../../src/lib/clock.ts';
import type { PipelineState } from '../../../src/model/pipeline-state.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import { MOST_TAKEOVERS, type Takeover } from '../../../src/model/takeover.ts';
import { type Arrival, withArrival } from '../../../src/pipeline/takeovers.ts';
import { job, World } from './world.ts';

/** A gate with that many items, and what a scheduler that comes to it now finds. */
function gateOf(count: number) {
  const world = new World();
  world.jobs('app', [job('unit')]);
  const gate = world.pipeline('gate', { manager: 'dependent', window: { initial: 0 } });
  const names = Array.from({ length: count }, (_, index) => `A${index}`);
  for (const name of names) world.change(name, { project: 'app' });
  gate.enqueue(...names);
  return { world, gate };
}

let made = 0;

function arrivalAt(at: Nanoseconds, ms = 6200): Arrival {
  made += 1;
  const to = `ci${made}/1`;
  const takeover: Takeover = { from: 'ci0/1', to, how: 'lost', since: addMilliseconds(at, -ms), at };
  return { holder: { name: to, session: String(made), since: at }, takeover };
}

const unchanged = (state: PipelineState) => ({ state, left: [] as readonly QueueItem[] });
const marksOf = (item: QueueItem | undefined) => (item?.takeovers ?? []).map(({ to }) => to);
const markedIn = (state: PipelineState, { holder }: Arrival) =>
  [...state.items.values()].filter(item => marksOf(item).includes(holder.name)).length;

describe('a scheduler that comes to a pipeline', () => {
  test('marks every item, a few per turn, and the pipeline remembers until all are marked', () => {
    const { world, gate } = gateOf(50);
    const arrival = arrivalAt(world.tick());
    let state = gate.state;
    const counts: number[] = [];
    for (let turns = 0; turns === 0 || state.takeovers !== undefined; turns += 1) {
      const before = state;
      ({ state } = withArrival(before, unchanged(before), arrival));
      counts.push([...state.items].filter(([uuid, item]) => before.items.get(uuid) !== item).length);
    }
    expect(counts).toEqual([20, 20, 10]);
    expect(markedIn(state, arrival)).toBe(50);
    expect(state.holder).toBe(arrival.holder);
    const output = unchanged(state);
    expect(withArrival(state, output, arrival)).toBe(output);
  });

  test('that dies before all are marked leaves the rest to the next one', () => {
    const { world, gate } = gateOf(30);
    const first = arrivalAt(world.tick());
    let { state } = withArrival(gate.state, unchanged(gate.state), first);
    expect(markedIn(state, first)).toBe(20);
    const second = arrivalAt(world.tick());
    while (state.takeovers !== undefined) ({ state } = withArrival(state, unchanged(state), second));
    expect([markedIn(state, first), markedIn(state, second)]).toEqual([30, 30]);
    for (const item of state.items.values())
      expect(marksOf(item)).toEqual([first.holder.name, second.holder.name]);
  });

  test('marks what its first turn writes anyway beside that, and what leaves in it', () => {
    const { world, gate } = gateOf(25);
    const before = gate.state;
    const arrival = arrivalAt(world.tick());
    const [leaving, ...rest] = [...before.items];
    if (leaving === undefined) throw new Error('no items');
    const written = new Map(rest.map(([uuid, item], index) => [uuid, index < 10 ? { ...item } : item]));
    const output = { state: { ...before, items: written }, left: [leaving[1]] };
    const { state, left } = withArrival(before, output, arrival);
    expect(markedIn(state, arrival)).toBe(24);
    expect(state.takeovers).toBeUndefined();
    expect(left.map(marksOf)).toEqual([[arrival.holder.name]]);
  });

  test('does not mark items that came after it', () => {
    const { world, gate } = gateOf(1);
    const arrival = arrivalAt(world.tick());
    const { state } = withArrival(gate.state, unchanged(gate.state), arrival);
    const [item] = state.items.values();
    if (item === undefined) throw new Error('no item');
    const late = { ...item, enqueuedAt: arrival.holder.since };
    const { takeovers: _, ...unmarked } = late;
    const before = { ...gate.state, items: new Map([[item.uuid, unmarked]]) };
    expect(withArrival(before, unchanged(before), arrival).state.items.get(item.uuid)).toBe(unmarked);
  });

  test('writes nothing into a pipeline without work, and its name with the first turn that writes', () => {
    const { world, gate } = gateOf(1);
    const { holder } = arrivalAt(world.tick());
    const arrival: Arrival = { holder, takeover: null };
    const output = unchanged(gate.state);
    expect(withArrival(gate.state, output, arrival)).toBe(output);
    const next = { ...output, state: { ...gate.state, consecutiveFailures: 1 } };
    const { state } = withArrival(gate.state, next, arrival);
    expect(state).toEqual({ ...next.state, holder });
    expect(state.items).toBe(gate.state.items);
  });

  test('is one of many: an item lists the first ones and adds up the others', () => {
    const { world, gate } = gateOf(1);
    let { state } = gate;
    const all = Array.from({ length: MOST_TAKEOVERS + 3 }, () => arrivalAt(world.tick(), 500));
    for (const arrival of all) ({ state } = withArrival(state, unchanged(state), arrival));
    const [item] = state.items.values();
    expect(marksOf(item)).toEqual(all.slice(0, MOST_TAKEOVERS).map(({ holder }) => holder.name));
    expect(item?.moreTakeovers).toEqual({ count: 3, duration: '1500000000', last: all.at(-1)?.holder.since });
  });
});
