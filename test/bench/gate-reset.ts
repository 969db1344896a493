/**
 * How long deciding a gate reset takes, and how much of it has to be written: the head of a queue fails and everything
 * behind it is tested again. Times are of `decideTurn` alone (best of ten, after a warm-up); bytes are those of the item
 * records that changed, as the store would write them.
 *
 * Oracle: every item but the head has a new buildset with the head's build as culprit, every open build has a cancel
 * command, and only items inside the window ask for a merge; growth from 1 000 to 5 000 items is linear.
 */
import { performance } from 'node:perf_hooks';
import { randomIds } from '../../src/lib/ids.ts';
import { queueItemCodec } from '../../src/model/codec/records.ts';
import type { PipelineEvent } from '../../src/model/event.ts';
import type { PipelineState } from '../../src/model/pipeline-state.ts';
import { decideTurn } from '../../src/pipeline/decide-turn.ts';
import type { TurnInput, TurnOutput } from '../../src/pipeline/turn.ts';
import { isInside } from '../../src/pipeline/window.ts';
import { job, World } from '../unit/pipeline/world.ts';

export interface BenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

/** Five times the items may cost at most this many times as long: 5 is linear, 25 quadratic. */
const MOST_GROWTH = 10;

export interface Gate {
  readonly items: number;
  readonly jobs: number;
  readonly input: TurnInput;
}

/** A queue whose jobs have all been requested, and the failure of the head's first job. */
export function gateOf(items: number, jobs: number, window: number): Gate {
  const world = new World();
  const gate = world.pipeline('gate', { manager: 'dependent', window: { initial: window } });
  world.jobs(
    'app',
    Array.from({ length: jobs }, (_, index) => job(`job-${index}`)),
  );
  const names = Array.from({ length: items }, (_, index) => `C${index}`);
  for (const name of names) world.change(name, { project: 'app' });
  gate.turn(names.map(name => gate.enqueueEvent(name)));
  const merged = { branches: [], filesChanged: [], config: [], heads: [], steps: [], worker: 'merger-1' };
  const { merges } = gate;
  gate.merges = [];
  gate.turn(merges.map(merge => gate.mergeEvent(merge, { kind: 'merged', ...merged })));
  const first = gate.builds[0];
  if (first === undefined || gate.builds.length !== insideOf(items, window) * jobs)
    throw new Error('the gate is not set up as meant');
  const event: PipelineEvent = gate.resultEvent(first, 'FAILURE');
  const last = gate.history.at(-1);
  if (last === undefined) throw new Error('no turn was played');
  return {
    items,
    jobs,
    input: {
      ...last.input,
      now: world.tick(),
      state: gate.state,
      events: [event],
      frozen: new Map(),
      ids: randomIds(),
    },
  };
}

/** Items of the queue that are tested at once. */
function insideOf(items: number, window: number): number {
  return Array.from({ length: items }, (_, position) => position).filter(position =>
    isInside(window, position),
  ).length;
}

function changedBytes(before: PipelineState, after: PipelineState): number {
  let bytes = 0;
  for (const item of after.items.values())
    if (before.items.get(item.uuid) !== item) bytes += queueItemCodec.encode(item).length;
  return bytes;
}

function checkReset({ items, jobs, input }: Gate, output: TurnOutput, inside: number): void {
  const count = (kind: string) => output.commands.filter(command => command.kind === kind).length;
  const reset = [...output.state.items.values()].filter(
    item => item.buildset.cause?.culprit?.job === 'job-0',
  );
  const right =
    reset.length === inside - 1 &&
    count('cancel-build') === (inside - 1) * jobs &&
    count('request-merge') === inside - 1;
  const untouched = [...output.state.items.values()].filter(
    item => input.state.items.get(item.uuid) === item,
  ).length;
  if (!right || untouched !== items - inside)
    throw new Error(`the reset of ${items} items is wrong: ${reset.length} reset, ${untouched} untouched`);
}

function bestOf(times: number, run: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let index = 0; index < times; index += 1) {
    const start = performance.now();
    run();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

function rowsOf(label: string, items: number, jobs: number, window: number): BenchRow[] {
  const gate = gateOf(items, jobs, window);
  const output = decideTurn(gate.input);
  checkReset(gate, output, insideOf(items, window));
  return [
    { name: `gate reset, ${label}: decide`, value: bestOf(10, () => decideTurn(gate.input)), unit: 'ms' },
    { name: `gate reset, ${label}: commands`, value: output.commands.length, unit: 'commands' },
    {
      name: `gate reset, ${label}: changed records`,
      value: changedBytes(gate.input.state, output.state),
      unit: 'bytes',
    },
    {
      name: `gate reset, ${label}: a turn with nothing new`,
      value: bestOf(10, () => decideTurn({ ...gate.input, state: output.state, events: [] })),
      unit: 'ms',
    },
  ];
}

/** @throws when the decision is wrong or does not grow linearly. */
export function benchGateReset(): readonly BenchRow[] {
  rowsOf('warm-up', 200, 2, 0);
  const rows = [
    ...rowsOf('20 items × 10 jobs', 20, 10, 20),
    ...rowsOf('1 000 items × 2 jobs, no window', 1000, 2, 0),
    ...rowsOf('5 000 items × 2 jobs, no window', 5000, 2, 0),
    ...rowsOf('5 000 items × 10 jobs, window 20', 5000, 10, 20),
  ];
  const decide = (items: string) =>
    rows.find(row => row.name.includes(`${items} items × 2 jobs`) && row.name.endsWith('decide'))?.value ?? 0;
  const growth = decide('5 000') / decide('1 000');
  if (growth > MOST_GROWTH) throw new Error(`five times the items took ${growth.toFixed(1)} times as long`);
  return [...rows, { name: 'gate reset, five times the items', value: growth, unit: 'times as long' }];
}
