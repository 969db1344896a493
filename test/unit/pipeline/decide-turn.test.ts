import { describe, expect, it } from 'vitest';
import { addMilliseconds } from '../../../src/lib/clock.ts';
import { type Change, refUpdateKey } from '../../../src/model/change.ts';
import { projectKey } from '../../../src/model/project.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import { decideTurn } from '../../../src/pipeline/decide-turn.ts';
import type { ChangeFacts, TurnInput } from '../../../src/pipeline/turn.ts';
import { commitId, job, type PipelineSetup, type PipelineWorld, World } from './world.ts';

function gateWith(
  names: readonly string[],
  setup: PipelineSetup = {},
): { readonly world: World; readonly gate: PipelineWorld } {
  const world = new World();
  const gate = world.pipeline('gate', { manager: 'dependent', ...setup });
  world.jobs('app', [job('unit')]);
  for (const name of names) world.change(name, { project: 'app' });
  return { world, gate };
}

function running(
  names: readonly string[],
  setup: PipelineSetup = {},
): { readonly world: World; readonly gate: PipelineWorld } {
  const made = gateWith(names, setup);
  made.gate.enqueue(...names);
  made.gate.turn(made.gate.merges.map(merge => made.gate.mergeEvent(merge)));
  return made;
}

function lastInput(gate: PipelineWorld): TurnInput {
  const last = gate.history.at(-1);
  if (last === undefined) throw new Error('no turn was played');
  return last.input;
}

describe('a turn', () => {
  it('with no events and nothing new returns the very same state', () => {
    const { gate } = running(['A', 'B']);
    const again = decideTurn({ ...lastInput(gate), state: gate.state, events: [], frozen: new Map() });
    expect(again.state).toBe(gate.state);
    expect(again).toMatchObject({ commands: [], decisions: [], needs: [], left: [] });
  });

  it('leaves items it does not change untouched by reference', () => {
    const { gate } = running(['A', 'B', 'C', 'D']);
    const before = { A: gate.item('A'), B: gate.item('B') };
    const build = gate.builds.find(entry => entry.item.uuid === gate.item('C').uuid);
    gate.turn(build === undefined ? [] : [gate.resultEvent(build, 'FAILURE')]);
    expect(gate.item('A')).toBe(before.A);
    expect(gate.item('B')).toBe(before.B);
    expect(gate.item('D').buildset.number).toBe(2);
  });

  it('asks for the job graph of a merged buildset and goes on once it is supplied', () => {
    const { world, gate } = gateWith(['A']);
    gate.enqueue('A');
    const [merge] = gate.merges;
    if (merge === undefined) throw new Error('no merge is asked for');
    const input = {
      ...lastInput(gate),
      now: world.tick(),
      state: gate.state,
      events: [gate.mergeEvent(merge)],
    };
    const asked = decideTurn(input);
    expect(asked.needs).toMatchObject([{ kind: 'freeze', buildset: merge.buildset, project: 'local/app' }]);
    expect(asked.commands).toEqual([]);
    const supplied = decideTurn({
      ...input,
      state: asked.state,
      events: [],
      frozen: new Map([[merge.buildset, world.freeze(merge.item)]]),
    });
    expect(supplied.needs).toEqual([]);
    expect(supplied.commands).toMatchObject([{ kind: 'request-build', job: 'unit', attempt: 1 }]);
    const [item] = supplied.state.items.values();
    expect(item?.timeline.map(entry => entry.state)).toEqual(['merge', 'executor']);
  });

  it('ignores events about items that are gone', () => {
    const { gate } = running(['A']);
    const [build] = gate.builds;
    if (build === undefined) throw new Error('no build is open');
    gate.world.get('A').status = 'abandoned';
    gate.updated('A');
    const turn = gate.turn([
      gate.resultEvent(build, 'SUCCESS'),
      gate.startEvent(build),
      gate.failingEvent(build),
    ]);
    expect(turn).toMatchObject({ commands: [], decisions: [], left: [] });
  });

  it('counts the answer to a report once', () => {
    const { gate } = running(['A', 'B']);
    gate.turn(gate.builds.map(build => gate.resultEvent(build, 'SUCCESS')));
    const [report] = gate.reports;
    if (report === undefined) throw new Error('no report is awaited');
    gate.world.moveTip('app');
    const answer = gate.reportEvent(report);
    gate.turn([answer]);
    const reports = gate.item('A').reports;
    const turn = gate.turn([answer]);
    expect(turn.decisions).toEqual([]);
    expect(turn.ignored).toMatchObject([{ item: gate.item('A').uuid, event: answer.uuid }]);
    expect(gate.item('A').reports).toBe(reports);
  });

  it('keeps the window a queue has learnt while the queue is empty, and forgets a queue that has learnt nothing', () => {
    const { gate } = running(['A']);
    gate.turn(gate.builds.map(build => gate.resultEvent(build, 'FAILURE')));
    gate.turn(gate.reports.map(report => gate.reportEvent(report)));
    expect(gate.state.queues).toMatchObject([{ key: 'app', window: 10, items: [] }]);
    const fresh = running(['A'], { window: { ceiling: 20 } });
    fresh.gate.turn(fresh.gate.builds.map(build => fresh.gate.resultEvent(build, 'SUCCESS')));
    fresh.gate.turn(fresh.gate.reports.map(report => fresh.gate.reportEvent(report)));
    expect(fresh.gate.state.queues).toEqual([]);
  });

  it('keeps the verdict of a cancelled build when its result comes late, and attaches the execution, clamped', () => {
    const { world, gate } = running(['A', 'B']);
    const build = gate.builds.find(entry => entry.item.uuid === gate.item('B').uuid);
    if (build === undefined) throw new Error('B has no build');
    gate.turn([gate.startEvent(build)]);
    gate.turn(gate.builds.filter(entry => entry !== build).map(entry => gate.resultEvent(entry, 'FAILURE')));
    const late = { ...gate.resultEvent(build, 'SUCCESS') };
    const end = addMilliseconds(world.tick(), 5000);
    const steps = [
      { kind: 'Playbook', subject: 'run/unit.sh', startedAt: build.item.enqueuedAt, endedAt: end } as const,
    ];
    const turn = gate.turn([
      { ...late, execution: { startedAt: build.item.enqueuedAt, endedAt: end, steps } } as typeof late,
    ]);
    expect(turn.decisions.map(({ code, text }) => `${code}: ${text}`)).toEqual([
      'result-ignored: unit ended with SUCCESS after it was cancelled: the result does not count',
    ]);
    const old = gate.item('B').earlier[0]?.builds[0];
    if (old?.state.state !== 'cancelled') throw new Error('the build of B was not cancelled');
    expect(old.state.cause).toMatchObject({
      code: 'reset',
      culprit: { change: 'app A,1', job: 'unit', result: 'FAILURE' },
    });
    expect(old.state.execution).toMatchObject({
      startedAt: old.requestedAt,
      endedAt: old.state.at,
      steps: [{ startedAt: old.requestedAt, endedAt: old.state.at }],
    });
    expect(gate.item('B').buildset.builds).toEqual([]);
  });

  it('finishes a reset of which only a part was written before a crash', () => {
    const { world, gate } = running(['A', 'B', 'C', 'D']);
    const before = gate.state;
    const written = gate.item('B').uuid;
    const [build] = gate.builds;
    if (build === undefined) throw new Error('no build is open');
    gate.turn([gate.resultEvent(build, 'FAILURE')]);
    const cause = gate.item('B').buildset.cause;
    const keep = new Set([gate.item('A').uuid, written]);
    const items = [...gate.state.items.values()].map(item =>
      keep.has(item.uuid) ? item : (before.items.get(item.uuid) ?? item),
    );
    gate.state = { ...gate.state, items: new Map(items.map(item => [item.uuid, item])) };
    const turn = gate.turn([]);
    const turnAt = world.now;
    expect(turn.commands.filter(command => command.kind === 'cancel-build')).toHaveLength(2);
    const finished = { ...cause, at: turnAt };
    for (const name of ['C', 'D'])
      expect(gate.item(name).buildset).toMatchObject({ number: 2, createdAt: turnAt, cause: finished });
    expect(gate.item('B').buildset.number).toBe(2);
  });

  it('reports the start once, although the item is tested again', () => {
    const { gate } = gateWith(['A', 'B'], { speaks: ['start', 'success', 'failure'] });
    gate.enqueue('A', 'B');
    const starts = () =>
      gate.history
        .flatMap(({ output }) => output.commands)
        .filter(command => command.kind === 'report' && command.action === 'start').length;
    gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
    expect(starts()).toBe(2);
    gate.turn(gate.builds.slice(0, 1).map(build => gate.resultEvent(build, 'FAILURE')));
    gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
    expect(gate.item('B').buildset.number).toBe(2);
    expect(starts()).toBe(2);
  });

  it('lets a change leave that got a dependency while it was reported, when it has to be tested again', () => {
    const { world, gate } = running(['A']);
    world.change('N', { project: 'app' });
    gate.turn(gate.builds.map(build => gate.resultEvent(build, 'SUCCESS')));
    world.get('A').dependsOn = ['N'];
    gate.updated('A');
    const [report] = gate.reports;
    if (report === undefined) throw new Error('nothing is reported');
    gate.turn([gate.reportEvent(report, { kind: 'base-moved', text: 'the branch has moved' })]);
    expect(gate.left.map(item => item.phase)).toMatchObject([{ reason: 'dependency-lost' }]);
    expect(world.landed).toEqual([]);
  });

  it('refuses an event about a revision that was replaced', () => {
    const { world, gate } = gateWith(['A']);
    const old = gate.enqueueEvent('A');
    world.get('A').patchset = 2;
    const turn = gate.turn([old]);
    expect(turn.decisions).toMatchObject([
      { code: 'event-refused', text: 'the event is about app A,1, which app A,2 has replaced' },
    ]);
    expect(turn.state.items.size).toBe(0);
  });

  it('records where an item came from and whether it is traced', () => {
    const { gate } = gateWith(['A']);
    const event = gate.enqueueEvent('A', 'proposed');
    if (event.kind !== 'enqueue') throw new Error('not an enqueue event');
    gate.turn([{ ...event, trigger: { ...event.trigger, sampled: false } }]);
    const item: QueueItem = gate.item('A');
    expect(item).toMatchObject({
      sampled: false,
      origin: { event: event.trigger.uuid, eventType: 'proposed', tenantSpan: event.tenantSpan },
    });
  });
});

describe('a pipeline of ref updates', () => {
  const project = projectKey({ connection: 'local', name: 'app' });

  function updateOf(oldCommit: string, newCommit: string): Change {
    const commit = commitId(newCommit);
    return {
      kind: 'ref',
      key: refUpdateKey(project, 'refs/heads/master', commit),
      project,
      ref: 'refs/heads/master',
      branch: 'master',
      oldCommit: commitId(oldCommit),
      newCommit: commit,
    };
  }

  it('goes through a merger as well and reports without merging anything', () => {
    const { world, gate } = gateWith(['A']);
    const post = world.pipeline('post');
    const update = updateOf('one', 'two');
    const facts: ChangeFacts = {
      record: {
        change: update,
        status: 'open',
        dependsOn: [],
        unresolvedDependencies: [],
        facts: {},
        fetchedAt: world.now,
      },
      requirements: { met: true, text: '' },
      dependents: [],
      queue: { key: 'app', name: 'app', allowsCycles: false },
      connectionAllowed: true,
    };
    const event = gate.enqueueEvent('A');
    if (event.kind !== 'enqueue') throw new Error('not an enqueue event');
    const input: TurnInput = {
      now: world.tick(),
      tenant: 'main',
      pipeline: post.pipeline,
      state: post.state,
      events: [{ ...event, trigger: { ...event.trigger, change: update } }],
      changes: new Map([[update.key, facts]]),
      frozen: new Map(),
      ids: world.ids,
    };
    const entered = decideTurn(input);
    const [request] = entered.commands;
    if (request?.kind !== 'request-merge') throw new Error('no merge is asked for');
    const { item, buildset } = request;
    const outcome = {
      kind: 'merged',
      branches: [],
      filesChanged: [],
      config: [],
      heads: [],
      steps: [],
      worker: 'merger-1',
    } as const;
    const answer = {
      kind: 'merger-result',
      uuid: world.uuid(),
      item,
      buildset,
      request: request.request,
      at: input.now,
      outcome,
    } as const;
    const frozen = new Map([
      [
        buildset,
        { kind: 'frozen', blob: 'b10b', jobs: [job('publish')], missingStates: [], work: [] } as const,
      ],
    ]);
    const started = decideTurn({
      ...input,
      now: world.tick(),
      state: entered.state,
      events: [answer],
      frozen,
    });
    expect(started.commands).toMatchObject([{ kind: 'request-build', job: 'publish' }]);
  });
});
