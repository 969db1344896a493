import { expect, test } from 'vitest';
import { addMilliseconds, millisecondsBetween } from '../../../src/lib/clock.ts';
import type { HostTrouble } from '../../../src/model/host-trouble.ts';
import { projectKey } from '../../../src/model/project.ts';
import { nextHostRetry } from '../../../src/pipeline/host-wait.ts';
import { violationsOf } from '../../invariants/history-checker.ts';
import { job, nameOf, type PendingMerge, type PipelineSetup, type PipelineWorld, World } from './world.ts';

function gateWith(names: readonly string[], setup: PipelineSetup = {}) {
  const world = new World();
  const gate = world.pipeline('gate', { manager: 'dependent', ...setup });
  world.jobs('app', [job('unit')]);
  for (const name of names) world.change(name, { project: 'app' });
  return { world, gate };
}

const trouble = (facts: Partial<HostTrouble> = {}): HostTrouble => ({
  project: projectKey({ connection: 'local', name: 'app' }),
  reason: 'limited',
  text: 'The requested URL returned error: 403',
  ...facts,
});

const refusedMerge = (gate: PipelineWorld, merge: PendingMerge, facts: Partial<HostTrouble> = {}) =>
  gate.mergeEvent(merge, {
    kind: 'failed',
    text: 'Unable to update local/app',
    retryable: true,
    trouble: trouble(facts),
    steps: [],
    worker: 'merger-1',
  });

const states = (gate: PipelineWorld) => gate.items().map(item => item.timeline.at(-1)?.state);
const asked = (gate: PipelineWorld) => gate.merges.map(merge => merge.item.changes[0].key.split('#').at(-1));

/** Turns without events, a second each, until an item asks; returns how many that took. */
function secondsUntilAsked(gate: PipelineWorld): number {
  for (let seconds = 1; seconds <= 120; seconds += 1) {
    gate.turn([]);
    if (gate.merges.length + gate.reports.length > 0) return seconds;
  }
  return expect.unreachable('no item asks the host again');
}

function succeed(gate: PipelineWorld): void {
  while (gate.merges.length + gate.builds.length + gate.reports.length > 0) {
    gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
    gate.turn(gate.builds.map(build => gate.resultEvent(build, 'SUCCESS')));
    const [report] = gate.reports;
    if (report !== undefined) gate.turn([gate.reportEvent(report)]);
  }
}

test.each([
  [90, 89],
  [7_200, 3_600],
])(
  'a time that the host names, %i seconds away, is kept up to an hour: %i seconds to go after a turn',
  (named, expected) => {
    const { world, gate } = gateWith(['A']);
    gate.enqueue('A');
    const notBefore = addMilliseconds(world.now, named * 1000);
    gate.turn(gate.merges.map(merge => refusedMerge(gate, merge, { notBefore })));
    const wait = gate.items()[0]?.hostWait ?? expect.unreachable('it does not wait');
    expect(Math.round(millisecondsBetween(world.now, wait.retryAt) / 1000)).toBe(expected);
    gate.turn([]);
    expect(gate.merges).toEqual([]);
  },
);

test('a host that does not serve dequeues no item: all wait in state host, one asks for all, and all land', () => {
  const { world, gate } = gateWith(['A', 'B', 'C', 'D', 'E']);
  gate.enqueue('A', 'B', 'C', 'D', 'E');
  expect(gate.merges).toHaveLength(5);
  gate.turn(gate.merges.map(merge => refusedMerge(gate, merge)));
  expect(states(gate)).toEqual(['host', 'host', 'host', 'host', 'host']);
  expect(gate.item('A').timeline.at(-1)).toMatchObject({ subject: 'local' });
  expect(gate.item('E').hostWait).toMatchObject({ doing: 'merge', reason: 'limited', tries: 1 });
  for (const waited of [1, 2, 4, 8, 16, 30, 30]) {
    expect([secondsUntilAsked(gate), asked(gate)]).toEqual([waited, ['A']]);
    expect(states(gate)).toEqual(['host', 'host', 'host', 'host', 'host']);
    gate.turn(gate.merges.map(merge => refusedMerge(gate, merge)));
  }
  secondsUntilAsked(gate);
  const served = gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
  expect(asked(gate)).toEqual(['B', 'C', 'D', 'E']);
  expect(gate.items().some(item => item.hostWait !== undefined)).toBe(false);
  expect(served.decisions.filter(({ code }) => code === 'host-recovered')).toHaveLength(5);
  succeed(gate);
  expect(world.landed).toEqual(['A', 'B', 'C', 'D', 'E']);
  expect(violationsOf(gate.history)).toEqual([]);
});

test('a change that comes in while its host is in trouble waits with the others and does not ask', () => {
  const { gate } = gateWith(['A', 'B']);
  gate.enqueue('A');
  gate.turn(gate.merges.map(merge => refusedMerge(gate, merge)));
  gate.enqueue('B');
  expect(asked(gate)).toEqual(['A']); // its second is over
  expect(gate.item('B').timeline.at(-1)).toMatchObject({ state: 'host', subject: 'local' });
});

test('where the item that asks for all is reset or leaves, the next one asks in the same turn', () => {
  const { world, gate } = gateWith(['A', 'B', 'C']);
  gate.enqueue('A', 'B', 'C');
  const [first, ...others] = gate.merges;
  gate.turn([
    gate.mergeEvent(first ?? expect.unreachable()),
    ...others.map(merge => refusedMerge(gate, merge)),
  ]);
  secondsUntilAsked(gate);
  expect(asked(gate)).toEqual(['B']);
  const [before] = gate.merges;
  gate.turn(gate.builds.map(build => gate.resultEvent(build, 'FAILURE')));
  expect(asked(gate)).toEqual(['B']);
  expect(gate.merges[0]?.buildset).not.toBe(before?.buildset);
  gate.turn([{ kind: 'dequeue', uuid: world.uuid(), change: world.proposed('B').key, by: 'olga' }]);
  expect(asked(gate)).toEqual(['C']);
});

test('another project of the same connection goes on', () => {
  const { world, gate } = gateWith(['A']);
  world.jobs('lib', [job('unit')]);
  world.change('L', { project: 'lib' });
  gate.enqueue('A');
  gate.turn(gate.merges.map(merge => refusedMerge(gate, merge)));
  gate.enqueue('L');
  expect(asked(gate)).toContain('L');
});

test('who waits for a host can be dequeued, replaced and abandoned', () => {
  const { world, gate } = gateWith(['A', 'B', 'C']);
  gate.enqueue('A', 'B', 'C');
  gate.turn(gate.merges.map(merge => refusedMerge(gate, merge)));
  gate.turn([{ kind: 'dequeue', uuid: world.uuid(), change: world.proposed('A').key, by: 'olga' }]);
  world.get('B').status = 'abandoned';
  gate.updated('B');
  world.get('C').patchset = 2;
  gate.updated('C');
  expect(gate.left.map(({ phase }) => phase.phase === 'left' && phase.reason)).toEqual([
    'dequeued-by-hand',
    'abandoned',
    'new-patchset',
  ]);
  expect(gate.left.some(item => item.hostWait !== undefined)).toBe(false);
});

test('a landing the host did not do is tried again, and what is behind is not tested again for it', () => {
  const { world, gate } = gateWith(['A', 'B']);
  gate.enqueue('A', 'B');
  gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
  gate.turn(gate.builds.map(build => gate.resultEvent(build, 'SUCCESS')));
  for (let tries = 1; tries <= 3; tries += 1) {
    const [report] = gate.reports;
    if (report === undefined) expect.unreachable();
    gate.turn([gate.reportEvent(report, { kind: 'host', trouble: trouble({ reason: 'locked' }) })]);
    expect(states(gate)).toEqual(['host', 'change-ahead']);
    expect(gate.item('A').hostWait).toMatchObject({ doing: 'report', tries });
    secondsUntilAsked(gate);
    expect(states(gate)).toEqual(['host', 'change-ahead']);
  }
  succeed(gate);
  expect(world.landed).toEqual(['A', 'B']);
  expect(gate.left.map(item => item.buildset.number)).toEqual([1, 1]);
  expect(violationsOf(gate.history)).toEqual([]);
});

test('a landing whose answer was lost is found done although the host has reported it already', () => {
  const { world, gate } = gateWith(['A']);
  gate.enqueue('A');
  gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
  gate.turn(gate.builds.map(build => gate.resultEvent(build, 'SUCCESS')));
  const [report] = gate.reports;
  if (report === undefined) expect.unreachable();
  gate.turn([gate.reportEvent(report, { kind: 'host', trouble: trouble({ reason: 'timeout' }) })]);
  world.get('A').status = 'merged';
  world.get('A').approved = false;
  gate.updated('A');
  const [again] = gate.reports;
  if (again === undefined) expect.unreachable('it was thrown out');
  gate.turn([gate.reportEvent(again, { kind: 'done', landed: 'as-tested' })]);
  expect(gate.left[0]?.phase).toMatchObject({ reason: 'reported', result: 'SUCCESS' });
});

test('a landing is tried again for ever, a note for a day', () => {
  const { world, gate } = gateWith(['A']);
  const check = world.pipeline('check');
  world.change('N', { project: 'app' });
  const refuse = (pipeline: PipelineWorld, kind: 'HostMerge' | 'HostReport') => {
    const [report] = pipeline.reports;
    if (report === undefined) expect.unreachable('nothing is reported');
    const answer = pipeline.reportEvent(report, { kind: 'host', trouble: trouble() });
    const times = { startedAt: world.now, endedAt: world.now };
    const part = {
      kind,
      connection: 'local',
      ...times,
      tries: 3,
      outcome: 'failed',
      reason: 'host',
    } as const;
    pipeline.turn([answer.kind === 'report-result' ? { ...answer, parts: [part] } : answer]);
  };
  for (const [pipeline, name, kind] of [
    [gate, 'A', 'HostMerge'],
    [check, 'N', 'HostReport'],
  ] as const) {
    pipeline.enqueue(name);
    pipeline.turn(pipeline.merges.map(merge => pipeline.mergeEvent(merge)));
    pipeline.turn(pipeline.builds.map(build => pipeline.resultEvent(build, 'SUCCESS')));
    refuse(pipeline, kind);
    world.pass(23 * 3_600_000);
    pipeline.turn([]);
    refuse(pipeline, kind);
    expect(pipeline.items()).toHaveLength(1);
    world.pass(2 * 3_600_000);
    pipeline.turn([]);
    refuse(pipeline, kind);
  }
  expect(states(gate)).toEqual(['host']);
  expect(check.left[0]?.phase).toMatchObject({ reason: 'reported', result: 'SUCCESS' });
});

test('an outage of days leaves a record that a store takes', () => {
  const { gate } = gateWith(['A']);
  gate.enqueue('A');
  const sizes: number[] = [];
  for (let tries = 1; tries <= 100; tries += 1) {
    gate.turn(gate.merges.map(merge => refusedMerge(gate, merge)));
    gate.world.pass(30_000);
    gate.turn([]);
    sizes.push(gate.item('A').buildset.mergerWork.length);
  }
  expect(gate.item('A').hostWait?.tries).toBe(100);
  expect(Math.max(...sizes)).toBeLessThan(25);
});

test('a commit the host does not have is waited for while the change is said to be at it, and else for three looks', () => {
  const { world, gate } = gateWith(['A']);
  gate.enqueue('A');
  const commit = world.proposed('A').commit;
  for (let look = 1; look <= 6; look += 1) {
    gate.turn(gate.merges.map(merge => refusedMerge(gate, merge, { reason: 'missing-ref', commit })));
    expect(states(gate)).toEqual(['host']);
    secondsUntilAsked(gate);
  }
  succeed(gate);
  expect(world.landed).toEqual(['A']);

  const check = world.pipeline('check', { dequeueOnNewPatchset: false });
  world.change('N', { project: 'app' });
  check.enqueue('N');
  const old = world.proposed('N').commit;
  world.get('N').patchset = 2;
  for (let look = 1; look <= 4; look += 1) {
    if (check.merges.length === 0) secondsUntilAsked(check);
    check.turn(check.merges.map(merge => refusedMerge(check, merge, { reason: 'missing-ref', commit: old })));
  }
  for (const report of check.reports) check.turn([check.reportEvent(report)]);
  expect(check.left[0]?.phase).toMatchObject({ result: 'ERROR' });
});

test('a build whose commits the host does not give is tried again for as long as it takes, and is no attempt', () => {
  const { world, gate } = gateWith(['A']);
  world.jobs('app', [job('unit', { attempts: 2 }), job('lint', { attempts: 2 })]);
  gate.enqueue('A');
  gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
  for (let tries = 1; tries <= 6; tries += 1) {
    expect(gate.builds.map(build => build.job).toSorted()).toEqual(['lint', 'unit']);
    gate.turn(
      gate.builds.map(build => {
        const event = gate.resultEvent(build, 'RETRY');
        return event.kind === 'build-result' ? { ...event, trouble: trouble({ reason: 'timeout' }) } : event;
      }),
    );
    expect(states(gate)).toEqual(['host']);
    expect(gate.item('A').hostWait).toMatchObject({ doing: 'build', tries });
    for (let seconds = 0; seconds < 60 && gate.builds.length === 0; seconds += 1) gate.turn([]);
  }
  succeed(gate);
  expect(world.landed).toEqual(['A']);
  expect(violationsOf(gate.history)).toEqual([]);
});

test('builds of several items that the host refuses together wait as long as one, and go on when one has its commits', () => {
  const names = ['A', 'B', 'C', 'D', 'E', 'F'];
  const { world, gate } = gateWith(names);
  gate.enqueue(...names);
  while (gate.merges.length > 0) gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
  const fail = (builds: typeof gate.builds) =>
    gate.turn(
      builds.map(build => {
        const event = gate.resultEvent(build, 'RETRY');
        return event.kind === 'build-result' ? { ...event, trouble: trouble() } : event;
      }),
    );
  for (let tries = 1; tries <= 6; tries += 1) {
    expect(gate.builds).toHaveLength(names.length);
    // One after the other, as executors report.
    for (const build of gate.builds) fail([build]);
    expect(gate.items().map(({ hostWait }) => hostWait?.tries)).toEqual(names.map(() => tries));
    for (let seconds = 0; seconds < 60 && gate.builds.length < names.length; seconds += 1) gate.turn([]);
  }
  const [first, ...others] = gate.builds;
  if (first === undefined) return expect.unreachable('no build is tried again');
  gate.turn([gate.startEvent(first)]);
  fail(others);
  gate.turn([gate.resultEvent(first, 'SUCCESS')]);
  gate.turn([]);
  expect(gate.builds).toHaveLength(others.length);
  succeed(gate);
  expect(world.landed).toEqual(names);
  expect(violationsOf(gate.history)).toEqual([]);
});

test('a build that began before the trouble does not let others try again', () => {
  const { gate } = gateWith(['A', 'B']);
  gate.enqueue('A', 'B');
  while (gate.merges.length > 0) gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
  const [first, second] = gate.builds;
  if (first === undefined || second === undefined) return expect.unreachable('two builds were expected');
  gate.turn([gate.startEvent(first)]);
  const refused = gate.resultEvent(second, 'RETRY');
  gate.turn([refused.kind === 'build-result' ? { ...refused, trouble: trouble() } : refused]);
  const wait = gate.item('B').hostWait;
  gate.turn([gate.resultEvent(first, 'SUCCESS')]);
  expect(gate.item('B').hostWait).toEqual(wait);
});

test('a build is not tried for ever for a commit that the host does not have', () => {
  const { world, gate } = gateWith(['A']);
  gate.enqueue('A');
  gate.turn(gate.merges.map(merge => gate.mergeEvent(merge)));
  for (let tries = 1; tries <= 20 && gate.reports.length === 0; tries += 1) {
    gate.turn(
      gate.builds.map(build => {
        const event = gate.resultEvent(build, 'RETRY');
        return event.kind === 'build-result'
          ? { ...event, trouble: trouble({ reason: 'missing-ref' }) }
          : event;
      }),
    );
    world.pass(300_000);
    gate.turn([]);
  }
  expect(gate.item('A').buildset.builds.at(-1)?.state).toMatchObject({ result: 'RETRY_LIMIT' });
});

test('the next try is a fact of the items, for the next holder of the pipeline', () => {
  const { world, gate } = gateWith(['A']);
  gate.enqueue('A');
  gate.turn(gate.merges.map(merge => refusedMerge(gate, merge)));
  const next = nextHostRetry(gate.items(), world.now);
  if (next === null) expect.unreachable();
  expect(millisecondsBetween(world.now, next)).toBe(1_000);
  expect(nextHostRetry(gate.items(), next)).toBeNull();
});

test('a change that is too large for git is asked for a few times, and holds up no other', () => {
  const { world } = gateWith(['A']);
  const check = world.pipeline('check', { dequeueOnNewPatchset: false });
  for (const change of ['N', 'M']) world.change(change, { project: 'app' });
  check.enqueue('N');
  check.enqueue('M');
  for (let look = 1; look <= 4; look += 1) {
    if (check.merges.length === 0) secondsUntilAsked(check);
    check.turn(
      check.merges.map(merge =>
        nameOf(merge.item) === 'N'
          ? refusedMerge(check, merge, { reason: 'too-large' })
          : check.mergeEvent(merge),
      ),
    );
    expect(check.builds.map(({ item }) => nameOf(item))).toEqual(['M']);
  }
  for (const report of check.reports) check.turn([check.reportEvent(report)]);
  expect(check.left.map(item => [nameOf(item), item.phase])).toMatchObject([['N', { result: 'ERROR' }]]);
});

test('what is behind an item that waits for its host is tested again once when the branch below moves', () => {
  const { world, gate } = gateWith(['A', 'L']);
  world.jobs('lib', [job('unit')]);
  world.queue('app', 'integrated');
  world.queue('lib', 'integrated');
  world.change('B', { project: 'lib' });
  gate.enqueue('A', 'B', 'L');
  const project = projectKey({ connection: 'local', name: 'lib' });
  const notBefore = addMilliseconds(world.now, 60_000);
  const [mergeOfB] = gate.merges.filter(({ item }) => nameOf(item) === 'B');
  if (mergeOfB === undefined) expect.unreachable();
  gate.turn(gate.merges.filter(merge => merge !== mergeOfB).map(merge => gate.mergeEvent(merge)));
  gate.turn([refusedMerge(gate, mergeOfB, { project, notBefore })]);
  gate.turn(gate.builds.map(build => gate.resultEvent(build, 'SUCCESS')));
  const [report] = gate.reports;
  if (report === undefined) expect.unreachable();
  gate.turn([gate.reportEvent(report, { kind: 'base-moved', text: 'the branch has moved' })]);
  gate.turn([]);
  gate.turn([]);
  expect(gate.items().map(item => [nameOf(item), item.buildset.number])).toEqual([
    ['A', 2],
    ['B', 2],
    ['L', 2],
  ]);
  succeed(gate);
  expect(world.landed).toEqual(['A', 'B', 'L']);
  expect(violationsOf(gate.history)).toEqual([]);
});
