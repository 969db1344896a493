/** What an act would cost is what the turn then does. */
import { expect, test } from 'vitest';
import type { ActCost } from '../../../src/model/act-cost.ts';
import type { PipelineEvent } from '../../../src/model/event.ts';
import { lostBuildSeconds } from '../../../src/model/lost-time.ts';
import { previewAct } from '../../../src/pipeline/preview-act.ts';
import { job, type PipelineWorld, World } from './world.ts';

/** A gate of changes of one project, each of which has two jobs that began a minute after the one ahead. */
function gateOf(...names: readonly string[]): { readonly world: World; readonly gate: PipelineWorld } {
  const world = new World();
  const gate = world.pipeline('gate', { manager: 'dependent' });
  world.jobs('app', [job('unit'), job('lint')]);
  for (const name of names) {
    world.change(name, { project: 'app' });
    gate.enqueue(name);
    gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
    gate.turn(buildsOf(gate, name).map(build => gate.startEvent(build)));
    world.pass(60_000);
  }
  return { world, gate };
}

const management = (world: World) => ({ receivedAt: world.now, storedAt: world.now, sampled: false });

function preview(
  { world, pipeline, state }: PipelineWorld,
  event: PipelineEvent,
  more: Partial<Parameters<typeof previewAct>[0]> = {},
) {
  return previewAct({ now: world.now, ids: world.ids, tenant: 'tenant', pipeline, state, event, ...more });
}

const effects = ({ items }: ActCost) => items.map(({ change, effect }) => `${change} ${effect}`);

function buildsOf(gate: PipelineWorld, name: string) {
  return gate.builds.filter(({ item }) => item.uuid === gate.item(name).uuid);
}

const minutes = ({ items }: ActCost) => items.map(({ machineMs }) => Math.round(machineMs / 60_000));
const key = (world: World, name: string) => world.proposed(name).key;

test('an item that is dequeued leaves, those behind it are tested again, and the time of their builds is lost', () => {
  const { world, gate } = gateOf('A', 'B', 'C', 'D');
  const asked: PipelineEvent = {
    ...{ kind: 'dequeue', uuid: world.uuid(), change: key(world, 'B'), by: 'bob' },
  };
  const cost = preview(gate, asked);
  expect(effects(cost)).toEqual(['app B,1 left', 'app C,1 reset', 'app D,1 reset']);
  // Two builds each, begun three, two and one minutes ago.
  expect(minutes(cost)).toEqual([6, 4, 2]);
  expect(cost).toMatchObject({ jobs: [], refusals: [], supersedes: [] });
});

test('a preview changes nothing', () => {
  const { world, gate } = gateOf('A', 'B');
  const before = structuredClone(gate.state);
  preview(gate, { kind: 'dequeue', uuid: world.uuid(), change: key(world, 'A'), by: 'bob' });
  expect(gate.state).toEqual(before);
});

test('a change that depends on the one that is dequeued leaves with it', () => {
  const world = new World();
  const gate = world.pipeline('gate', { manager: 'dependent' });
  world.jobs('app', [job('unit')]);
  world.change('A', { project: 'app' });
  world.change('B', { project: 'app', dependsOn: ['A'] });
  gate.enqueue('A', 'B');
  const cost = preview(gate, { kind: 'dequeue', uuid: world.uuid(), change: key(world, 'A'), by: 'bob' });
  expect(effects(cost)).toEqual(['app A,1 left', 'app B,1 left']);
  expect(minutes(cost)).toEqual([0, 0]);
});

test('a promoted item and all that it passes are tested again, those ahead of its new place are not', () => {
  const { world, gate } = gateOf('A', 'B', 'C');
  const changes = [key(world, 'A'), key(world, 'C')];
  const cost = preview(gate, { kind: 'promote', uuid: world.uuid(), changes, by: 'bob' });
  expect(effects(cost)).toEqual(['app B,1 reset', 'app C,1 reset']);
  expect(cost.refusals).toEqual([expect.stringMatching(/as far ahead as it can be/)]);
});

test('failed jobs that run again beside others cost what was tested past the failing item', () => {
  const { world, gate } = gateOf('A', 'B', 'C');
  const [unit] = buildsOf(gate, 'B');
  if (unit === undefined) throw new Error('B has no builds');
  gate.turn([gate.resultEvent(unit, 'FAILURE')]);
  gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
  gate.turn(buildsOf(gate, 'C').map(build => gate.startEvent(build)));
  world.pass(60_000);
  const { uuid: item } = gate.item('B');
  const asked = { kind: 'rerun', item, change: key(world, 'B'), by: 'bob' } as const;
  const cost = preview(gate, { ...asked, uuid: world.uuid(), management: management(world) });
  expect(effects(cost)).toEqual(['app B,1 rerun', 'app C,1 reset']);
  expect(minutes(cost)).toEqual([0, 2]);
  expect(cost.jobs).toEqual(['unit']);
});

test('of an item whose jobs have all ended only those that failed run again', () => {
  const { world, gate } = gateOf('A', 'B');
  const [unit, lint] = buildsOf(gate, 'B');
  if (unit === undefined || lint === undefined) throw new Error('B has no builds');
  gate.turn([gate.resultEvent(unit, 'FAILURE'), gate.resultEvent(lint, 'SUCCESS')]);
  const { uuid: item } = gate.item('B');
  const asked = { kind: 'rerun', item, change: key(world, 'B'), by: 'bob' } as const;
  const cost = preview(gate, { ...asked, uuid: world.uuid(), management: management(world) });
  expect(effects(cost)).toEqual(['app B,1 rerun']);
  expect(cost.jobs).toEqual(['unit']);
  expect(minutes(cost)).toEqual([0]);
  gate.turn([{ ...asked, uuid: world.uuid(), management: management(world) }]);
  // `lint` took a minute, too, but its result stands.
  expect(Math.round(lostBuildSeconds(gate.item('B')) / 60)).toBe(1);
});

test('what an act is refused for is its whole answer', () => {
  const { world, gate } = gateOf('A');
  const { uuid: item } = gate.item('A');
  const asked = { kind: 'rerun', item, change: key(world, 'A'), by: 'bob' } as const;
  const cost = preview(gate, { ...asked, uuid: world.uuid(), management: management(world) });
  expect(cost).toMatchObject({
    items: [],
    jobs: [],
    refusals: [expect.stringMatching(/no job of it has failed/)],
  });
});

test('a pause holds the items whose jobs have not begun, and its end lets them go on', () => {
  const { world, gate } = gateOf('A');
  world.change('B', { project: 'app' });
  gate.enqueue('B');
  const halt = (wanted: 'pause' | 'drain' | 'resume', queue: string | null = null): PipelineEvent => ({
    ...{ kind: 'halt', uuid: world.uuid(), queue, wanted, reason: 'disks', by: 'bob' },
    management: management(world),
  });
  expect(effects(preview(gate, halt('pause')))).toEqual(['app B,1 paused']);
  expect(effects(preview(gate, halt('pause', 'app')))).toEqual(['app B,1 paused']);
  expect(effects(preview(gate, halt('drain')))).toEqual([]);
  gate.turn([halt('pause')]);
  gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
  expect(effects(preview(gate, halt('pause')))).toEqual([]);
  expect(effects(preview(gate, halt('resume')))).toEqual(['app B,1 resumed']);
});

test('a change that enters with a new patchset takes the old one out, with all that was tested on it', () => {
  const { world, gate } = gateOf('A', 'B');
  world.get('A').patchset = 2;
  const event = gate.enqueueEvent('A');
  const changes = new Map([...world.facts(false)].filter(([each]) => each === key(world, 'A')));
  const cost = preview(gate, event, { changes });
  expect(effects(cost)).toEqual(['app A,1 left', 'app B,1 reset']);
  expect(cost.refusals).toEqual([]);
});

test('a change that enters names the pipelines in which it supersedes others', () => {
  const world = new World();
  const gate = world.pipeline('gate', { manager: 'dependent', supercedes: ['check'] });
  world.jobs('app', [job('unit')]);
  world.change('A', { project: 'app' });
  const cost = preview(gate, gate.enqueueEvent('A'), { changes: world.facts(false) });
  expect(cost.supersedes).toMatchObject([{ pipelines: ['check'], change: key(world, 'A') }]);
});
