import { describe, expect, it } from 'vitest';
import type { PipelineEvent } from '../../../src/model/event.ts';
import { decideTurn } from '../../../src/pipeline/decide-turn.ts';
import type { TracingFacts, TurnInput } from '../../../src/pipeline/turn.ts';
import { Script } from './commands.ts';
import { job, type PipelineWorld, World } from './world.ts';

const NOTHING: TracingFacts = { holdsBack: false, runsLong: () => false };

function lastInput(gate: PipelineWorld): TurnInput {
  const last = gate.history.at(-1);
  if (last === undefined) throw new Error('no turn was played');
  return last.input;
}

/** The item of a change whose event was, or was not, chosen by ratio. */
function entered(sampled: boolean, tracing: TracingFacts | undefined) {
  const world = new World();
  const gate = world.pipeline('gate', { manager: 'dependent' });
  world.jobs('app', [job('unit')]);
  world.change('A', { project: 'app' });
  gate.enqueue('A');
  const input = lastInput(gate);
  const events = input.events.map(
    (event): PipelineEvent =>
      event.kind === 'enqueue'
        ? { ...event, trigger: { ...event.trigger, sampled, traceState: 'ot=rv:6e6d1a75832a2f' } }
        : event,
  );
  const { state } = decideTurn({ ...input, events, ...(tracing === undefined ? {} : { tracing }) });
  const [item] = state.items.values();
  return item;
}

describe('a new item', () => {
  it('is held back when the ratio left it out and there are rules', () => {
    const rules: TracingFacts = { ...NOTHING, holdsBack: true };
    expect(entered(false, rules)).toMatchObject({ sampled: false, heldBack: true });
    expect(entered(true, rules)).not.toHaveProperty('heldBack');
    expect(entered(false, NOTHING)).not.toHaveProperty('heldBack');
    expect(entered(false, undefined)).not.toHaveProperty('heldBack');
  });

  it('has the trace state of its event', () => {
    expect(entered(true, NOTHING)?.traceState).toBe('ot=rv:6e6d1a75832a2f');
  });

  it('knows which place in its queue it took', () => {
    const script = new Script();
    script.run([
      'pipeline gate dependent',
      'jobs app unit',
      'changes app A B C',
      'approve A B',
      'abandon A',
      'approve C',
    ]);
    const gate = script.world.pipelines.get('gate');
    expect(gate?.items().map(item => item.position)).toEqual([2, 2]);
  });
});

describe('an item that waited for its place', () => {
  it('says how wide the window was that it entered, after one ahead narrowed it', () => {
    const script = new Script();
    script.run([
      'pipeline gate dependent window=2 floor=1 ceiling=2',
      'jobs app unit',
      'changes app A B C',
      'approve A B C',
      'merges',
      'build A unit FAILURE',
      'report A',
      'merges',
      'release B .*',
      'report B',
    ]);
    const gate = script.world.pipelines.get('gate');
    expect(gate?.item('C').events).toMatchObject([{ name: 'window-entered', facts: { window: 2 } }]);
    expect(gate?.item('C').timeline.map(({ state }) => state)).toContain('window');
  });
});

describe('a build', () => {
  it('is a trace of its own when its job is expected to run long, or is configured so', () => {
    const world = new World();
    const gate = world.pipeline('gate', { manager: 'dependent' });
    world.jobs('app', [job('unit'), job('nightly'), job('explicit', { trace: 'own' })]);
    world.change('A', { project: 'app' });
    gate.enqueue('A');
    const [merge] = gate.merges;
    if (merge === undefined) throw new Error('no merge is asked for');
    const input = { ...lastInput(gate), now: world.tick(), state: gate.state };
    const tracing: TracingFacts = {
      ...NOTHING,
      runsLong: (project, name) => project === 'local/app' && name === 'nightly',
    };
    const asked = decideTurn({ ...input, events: [gate.mergeEvent(merge)], tracing });
    const frozen = new Map([[merge.buildset, world.freeze(merge.item)]]);
    const { state } = decideTurn({ ...input, state: asked.state, events: [], frozen, tracing });
    const [item] = state.items.values();
    expect(item?.buildset.builds.map(build => [build.job, build.ownTrace])).toEqual([
      ['unit', undefined],
      ['nightly', true],
      ['explicit', true],
    ]);
  });

  it('has the precedence of its pipeline, and is asked to stop where another failed fast', () => {
    const script = new Script();
    script.run([
      'pipeline gate dependent',
      'jobs app unit lint:failfast',
      'changes app A',
      'approve A',
      'merge A ok',
      'build A lint FAILURE',
    ]);
    const item = script.world.pipelines.get('gate')?.item('A');
    expect(item?.buildset.builds.map(({ priority }) => priority)).toEqual(['normal', 'normal']);
    const asked = item?.events.filter(({ name }) => name === 'cancel-requested') ?? [];
    expect(asked.map(({ facts }) => [facts.code, facts.job])).toEqual([['fail-fast', 'lint']]);
  });
});
