import { describe, expect, it } from 'vitest';
import type { Uuid } from '../../../src/lib/ids.ts';
import type { PipelineEvent } from '../../../src/model/event.ts';
import type { PipelineState } from '../../../src/model/pipeline-state.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import { decideTurn } from '../../../src/pipeline/decide-turn.ts';
import type { TurnInput } from '../../../src/pipeline/turn.ts';
import { job, nameOf, type PipelineWorld, World } from './world.ts';

/** Changes A0, A1, ... in a queue each, of which the first is merged and runs; nothing is left to do. */
function checkOf(size: number): { readonly world: World; readonly check: PipelineWorld } {
  const world = new World();
  const check = world.pipeline('check');
  world.jobs('app', [job('unit')]);
  const names = Array.from({ length: size }, (_, index) => `A${index}`);
  for (const name of names) world.change(name, { project: 'app' });
  check.turn(names.map(name => check.enqueueEvent(name)));
  const [merge] = check.merges;
  if (merge !== undefined) check.turn([check.mergeEvent(merge)]);
  check.turn([]);
  return { world, check };
}

/** The next turn, and the names of the items of which it looks at anything. */
function seenBy(
  { check, world }: ReturnType<typeof checkOf>,
  events: readonly PipelineEvent[],
  more: Partial<TurnInput> = {},
) {
  const last = check.history.at(-1);
  if (last === undefined) throw new Error('no turn was played');
  const seen = new Set<string>();
  let reads = 0;
  const watched = (item: QueueItem) =>
    new Proxy(item, {
      get(target, field, receiver) {
        seen.add(nameOf(item));
        reads += 1;
        return Reflect.get(target, field, receiver);
      },
    });
  const items = new Map<Uuid, QueueItem>([...check.state.items].map(([uuid, item]) => [uuid, watched(item)]));
  const state: PipelineState = { ...check.state, items };
  const memory = { ...last.output.memory, state };
  const output = decideTurn({
    ...last.input,
    memory,
    state,
    events,
    now: world.tick(),
    frozen: new Map(),
    ...more,
  });
  return { seen, reads, output };
}

describe('a turn with a memory', () => {
  it.for([3, 60])('looks at the one item that an event is about, of %i', size => {
    const played = checkOf(size);
    const [build] = played.check.builds;
    if (build === undefined) throw new Error('no build was asked for');
    const { seen, output } = seenBy(played, [played.check.startEvent(build)]);
    expect([...seen]).toEqual(['A0']);
    expect(output.memory.unsettled.size).toBe(1);
  });

  it('looks at nothing where nothing has happened', () => {
    expect([...seenBy(checkOf(3), []).seen]).toEqual([]);
  });

  it('looks at everything under another layout, without a memory, and when the pipeline is paused', () => {
    const played = checkOf(3);
    const all = ['A0', 'A1', 'A2'];
    expect([...seenBy(played, [], { layoutVersion: 7 }).seen]).toEqual(all);
    const { pipeline } = played.check;
    expect([...seenBy(played, [], { pipeline: { ...pipeline, precedence: 'high' } }).seen]).toEqual(all);
    const management = { receivedAt: played.world.now, storedAt: played.world.now, sampled: true };
    const halt = { queue: null, wanted: 'pause', reason: 'disks', by: 'bob', management } as const;
    const paused = seenBy(played, [{ kind: 'halt', uuid: played.world.uuid(), ...halt }]);
    expect([...paused.seen]).toEqual(all);
  });

  it('is not misled by the memory of another state', () => {
    const { check } = checkOf(2);
    const [first] = check.history;
    const last = check.history.at(-1);
    if (first === undefined || last === undefined) throw new Error('no turn was played');
    const { memory: _, ...rest } = last.input;
    const input = { ...rest, state: first.output.state, frozen: new Map() };
    const events = check.merges.map(merge => check.mergeEvent(merge));
    expect(decideTurn({ ...input, events, memory: last.output.memory }).state).toEqual(
      decideTurn({ ...input, events }).state,
    );
  });

  it('takes out an item whose dependency was abandoned, three steps away', () => {
    const world = new World();
    const gate = world.pipeline('gate', { manager: 'dependent' });
    world.jobs('app', [job('unit')]);
    world.change('A', { project: 'app' });
    for (const [name, needed] of [
      ['B', 'A'],
      ['C', 'B'],
      ['D', 'C'],
    ] as const)
      world.change(name, { project: 'app', dependsOn: [needed] });
    gate.enqueue('D');
    gate.turn([]);
    world.get('A').status = 'abandoned';
    gate.comparesMemory = true;
    expect(gate.turn([]).left.map(nameOf)).toEqual(['A', 'B', 'C', 'D']);
  });

  it('steps over what waits far behind in a gate', () => {
    const world = new World();
    const check = world.pipeline('gate', { manager: 'dependent', window: { initial: 2 } });
    world.jobs('app', [job('unit')]);
    const names = Array.from({ length: 50 }, (_, index) => `A${index}`);
    for (const name of names) world.change(name, { project: 'app' });
    check.enqueue(...names);
    check.turn(check.merges.map(merge => check.mergeEvent(merge)));
    check.turn([]);
    const [build] = check.builds;
    if (build === undefined) throw new Error('no build was asked for');
    const next = (memory: 'with' | 'without') =>
      seenBy(
        { check, world },
        [check.resultEvent(build, 'FAILURE')],
        memory === 'with' ? {} : { layoutVersion: 7 },
      );
    const [quick, whole] = [next('with'), next('without')];
    expect(quick.reads).toBeLessThan(whole.reads / 3);
    expect(quick.output.left.map(nameOf)).toEqual(whole.output.left.map(nameOf));
  });
});
