/** Each check must be able to fail: sound histories are tampered with and the tampering is named. */
import { describe, expect, it } from 'vitest';
import type { Uuid } from '../../../src/lib/ids.ts';
import type { Build } from '../../../src/model/build.ts';
import type { BuildSet } from '../../../src/model/build-set.ts';
import type { PipelineState } from '../../../src/model/pipeline-state.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import { HistoryChecker, violationsOf } from '../../invariants/history-checker.ts';
import { job, type PipelineWorld, type RecordedTurn, World } from './world.ts';

/** A and B merge; C fails and is reset once, with its build tried again. */
function story(): PipelineWorld {
  const world = new World();
  const gate = world.pipeline('gate', { manager: 'dependent' });
  world.jobs('app', [job('unit', { attempts: 2 })]);
  for (const name of ['A', 'B']) world.change(name, { project: 'app' });
  gate.enqueue('A', 'B');
  gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
  gate.turn(gate.builds.slice(0, 1).map(build => gate.resultEvent(build, 'RETRY')));
  gate.turn(gate.builds.map(build => gate.resultEvent(build, 'SUCCESS')));
  gate.turn(gate.reports.map(report => gate.reportEvent(report)));
  gate.turn(gate.reports.map(report => gate.reportEvent(report)));
  return gate;
}

function complaints(history: readonly RecordedTurn[]): readonly string[] {
  return violationsOf(history).map(({ invariant, text }) => `${invariant}: ${text}`);
}

function landings(history: readonly RecordedTurn[]): readonly RecordedTurn[] {
  return history.filter(({ input }) => input.events.some(event => event.kind === 'report-result'));
}

function mapItems(state: PipelineState, change: (item: QueueItem) => QueueItem): PipelineState {
  return { ...state, items: new Map([...state.items].map(([uuid, item]) => [uuid, change(item)])) };
}

function mapBuilds(item: QueueItem, change: (build: Build) => Build): QueueItem {
  const buildset: BuildSet = { ...item.buildset, builds: item.buildset.builds.map(change) };
  return { ...item, buildset };
}

/** The first turn that matches, with its output state changed. */
function tamper(
  history: readonly RecordedTurn[],
  matches: (turn: RecordedTurn) => boolean,
  change: (item: QueueItem) => QueueItem,
): RecordedTurn[] {
  const at = history.findIndex(matches);
  return history
    .slice(0, at + 1)
    .map((turn, index) =>
      index === at
        ? { ...turn, output: { ...turn.output, state: mapItems(turn.output.state, change) } }
        : turn,
    );
}

const takesResults = ({ input }: RecordedTurn) => input.events.some(event => event.kind === 'build-result');

describe('the checks of the recorded history', () => {
  it('find nothing wrong with a sound one', () => {
    const gate = story();
    expect(gate.world.landed).toEqual(['A', 'B']);
    expect(complaints(gate.history)).toEqual([]);
  });

  it('notice a second merge of one change', () => {
    const { history } = story();
    expect(complaints([...history, ...landings(history).slice(0, 1)])).toContain(
      '1: local/app#A was merged twice',
    );
  });

  it('notice a landing on top of something that was not tested', () => {
    const { history } = story();
    const [first] = landings(history);
    const found = complaints(history.filter(turn => turn !== first));
    expect(found).toContain(
      '1: local/app#B landed, tested on top of other items than those that landed before it',
    );
  });

  it('notice a landing out of order', () => {
    const { history } = story();
    const swapped = history.map(turn => {
      const state = turn.input.state;
      return {
        ...turn,
        input: {
          ...turn.input,
          state: {
            ...state,
            queues: state.queues.map(queue => ({ ...queue, items: queue.items.toReversed() })),
          },
        },
      };
    });
    expect(complaints(swapped)).toContain('1: local/app#A is reported as good although it is not the head');
  });

  it('notice a landing with a voting job that failed', () => {
    const { history } = story();
    const failed = history.map(turn => {
      const fail = (build: Build): Build =>
        build.state.state === 'completed'
          ? { ...build, state: { ...build.state, result: 'FAILURE' } }
          : build;
      return {
        ...turn,
        input: { ...turn.input, state: mapItems(turn.input.state, item => mapBuilds(item, fail)) },
      };
    });
    expect(complaints(failed)).toContain('1: local/app#A is reported as good although unit is FAILURE');
  });

  it('notice a result without an event', () => {
    const { history } = story();
    const silent = history.map(turn =>
      takesResults(turn) ? { ...turn, input: { ...turn.input, events: [] } } : turn,
    );
    expect(
      complaints(silent).some(
        text => text.startsWith('7: ') && text.endsWith('has a result without an event'),
      ),
    ).toBe(true);
  });

  it('notice a build cancelled without a word to its executor', () => {
    const { history } = story();
    const cancel = (item: QueueItem) =>
      mapBuilds(item, build => ({
        ...build,
        state: {
          state: 'cancelled',
          startedAt: null,
          at: item.enqueuedAt,
          worker: null,
          cause: { code: 'reset', at: item.enqueuedAt, culprit: null },
          execution: null,
        },
      }));
    expect(
      complaints(tamper(history, takesResults, cancel)).some(text =>
        text.includes('cancelled without a command to its executor'),
      ),
    ).toBe(true);
  });

  it('notice a build that was asked for twice', () => {
    const { history } = story();
    const asked = history.findIndex(({ output }) =>
      output.commands.some(command => command.kind === 'request-build'),
    );
    const twice = history.slice(0, asked + 1).map(turn => ({
      ...turn,
      output: { ...turn.output, commands: [...turn.output.commands, ...turn.output.commands] },
    }));
    expect(
      complaints(twice).some(text => text.startsWith('7: ') && text.endsWith('was asked for twice')),
    ).toBe(true);
  });

  it('notice a retry beyond the attempts, and one after a verdict', () => {
    const { history } = story();
    const again = (item: QueueItem): QueueItem => {
      const last = item.buildset.builds.at(-1);
      if (last === undefined) return item;
      const more: Build = { ...last, uuid: `f${last.uuid.slice(1)}` as Uuid, attempt: last.attempt + 1 };
      return { ...item, buildset: { ...item.buildset, builds: [...item.buildset.builds, more] } };
    };
    const found = complaints(tamper(history, takesResults, again));
    expect(found).toContain('9: unit: attempt 3 of 2');
    expect(found).toContain('9: unit was tried again after requested');
  });

  it('notice a buildset that changes after its end and one that vanishes', () => {
    const { history } = story();
    const isLanding = (turn: RecordedTurn) => turn === landings(history)[0];
    const reopened = tamper(history, isLanding, item => ({
      ...item,
      buildset: { ...item.buildset, stage: { state: 'new' } },
    }));
    expect(complaints(reopened).some(text => text.endsWith('changed after its end'))).toBe(true);
    const forgotten = tamper(history, isLanding, item => ({
      ...item,
      buildset: { ...item.buildset, uuid: `f${item.buildset.uuid.slice(1)}` as Uuid },
    }));
    expect(complaints(forgotten).some(text => text.endsWith('has vanished'))).toBe(true);
  });

  it('notice an item that vanishes, one that leaves twice and one that never leaves', () => {
    const { history } = story();
    const [first] = landings(history);
    if (first === undefined) throw new Error('nothing landed');
    const silent = history.map(turn =>
      turn === first ? { ...turn, output: { ...turn.output, left: [] } } : turn,
    );
    expect(complaints(silent).some(text => text.endsWith('vanished without leaving'))).toBe(true);
    expect(complaints([...history, first]).some(text => text.endsWith('left twice'))).toBe(true);
    const checker = new HistoryChecker();
    for (const { input, output } of history.slice(0, 2)) checker.turn(input, output);
    checker.finish();
    expect(checker.violations.filter(({ text }) => text.endsWith('never left'))).toHaveLength(2);
  });

  it('notice a timeline that repeats itself or rewrites the past', () => {
    const { history } = story();
    const repeated = tamper(history, takesResults, item => {
      const [head, ...rest] = item.timeline;
      const last = rest.at(-1) ?? head;
      return { ...item, timeline: [head, ...rest, last] };
    });
    expect(
      complaints(repeated).some(text => text.startsWith('timeline: ') && text.endsWith('twice in a row')),
    ).toBe(true);
    const rewritten = tamper(history, takesResults, item => ({
      ...item,
      timeline: [{ ...item.timeline[0], since: history.at(-1)?.input.now ?? item.enqueuedAt }],
    }));
    expect(complaints(rewritten).some(text => text.endsWith('does not begin with it'))).toBe(true);
  });

  it('notice a queue and its items that do not agree', () => {
    const { history } = story();
    const moved = tamper(history, takesResults, item => ({ ...item, queue: 'elsewhere' }));
    expect(complaints(moved).some(text => text.startsWith('queue: '))).toBe(true);
  });
});

describe('the checks of one item at a time', () => {
  /** A gate that tests B on top of A, handed over as the history of a pipeline with another manager. */
  function asIf(manager: 'serial' | 'supercedent'): readonly string[] {
    const { history } = story();
    const pipeline = { ...history[0]!.input.pipeline, manager };
    return complaints(history.map(({ input, output }) => ({ input: { ...input, pipeline }, output })));
  }

  it('notice that the second of a queue is merged and tested', () => {
    expect(asIf('serial')).toContainEqual(
      expect.stringMatching(/^manager: request-merge for .* not the first/),
    );
    expect(asIf('serial')).toContainEqual(
      expect.stringMatching(/^manager: request-build for .* not the first/),
    );
  });

  it('notice what is tested on top of another', () => {
    expect(asIf('serial')).toContainEqual(expect.stringMatching(/^manager: request-merge for .* on top of/));
  });

  it('notice two items of a ref that run, and two that wait', () => {
    expect(asIf('supercedent')).toContainEqual(expect.stringMatching(/2 items of .* run at once/));
    const world = new World();
    const post = world.pipeline('post', { manager: 'serial' });
    world.jobs('app', [job('unit')]);
    for (const name of ['A', 'B', 'C']) world.change(name, { project: 'app' });
    post.enqueue('A', 'B', 'C');
    const pipeline = { ...post.pipeline, manager: 'supercedent' as const };
    const history = post.history.map(({ input, output }) => ({ input: { ...input, pipeline }, output }));
    expect(complaints(history)).toContainEqual(expect.stringMatching(/2 items of .* wait/));
  });
});
