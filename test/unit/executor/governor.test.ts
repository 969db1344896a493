/** Sensors of the machine shut and open the intake of builds. */
import { expect, test } from 'vitest';
import { createGovernor } from '../../../src/executor/governor/governor.ts';
import {
  type Intake,
  type IntakeLimits,
  judgeIntake,
  type SensorReadings,
} from '../../../src/executor/governor/judge-intake.ts';
import { availableInCgroup, createMachineReader } from '../../../src/executor/governor/read-sensors.ts';
import { buildRequest, openBench, script } from './fixture.ts';

const OFF: IntakeLimits = {
  ...{ loadMultiplier: null, minAvailMem: null, maxStartingBuilds: null, mostWaitingLogs: null },
};
const CALM: SensorReadings = {
  load: 0,
  processors: 4,
  availableMemory: 80,
  starting: 0,
  running: 0,
  waitingLogs: 0,
};
const OPEN: Intake = { kind: 'open' };
const shut = (sensor: 'load' | 'memory'): Intake => ({ kind: 'shut', sensor, text: '' });

test.each<[string, Partial<IntakeLimits>, Partial<SensorReadings>, Intake, string]>([
  ['nothing is limited', {}, { load: 900, availableMemory: 0, starting: 99 }, OPEN, 'open'],
  ['the load is at its limit', { loadMultiplier: 2.5 }, { load: 10 }, OPEN, 'open'],
  ['the load is above its limit', { loadMultiplier: 2.5 }, { load: 10.1 }, OPEN, 'load'],
  ['the load is a little below again', { loadMultiplier: 2.5 }, { load: 9.5 }, shut('load'), 'load'],
  ['the load is well below again', { loadMultiplier: 2.5 }, { load: 9 }, shut('load'), 'open'],
  ['memory is at its limit', { minAvailMem: 5 }, { availableMemory: 5 }, OPEN, 'open'],
  ['memory is below its limit', { minAvailMem: 5 }, { availableMemory: 4.9 }, OPEN, 'memory'],
  ['memory is a little above again', { minAvailMem: 5 }, { availableMemory: 5.9 }, shut('memory'), 'memory'],
  ['memory is well above again', { minAvailMem: 5 }, { availableMemory: 6 }, shut('memory'), 'open'],
  [
    'a limit nothing can reach opens at all of it',
    { minAvailMem: 99 },
    { availableMemory: 100 },
    shut('memory'),
    'open',
  ],
  ['another sensor had shut it', { minAvailMem: 5 }, { availableMemory: 5.1 }, shut('load'), 'open'],
  ['some logs wait', { mostWaitingLogs: 9e6 }, { waitingLogs: 9e6 }, OPEN, 'open'],
  ['many logs wait', { mostWaitingLogs: 9e6 }, { waitingLogs: 9e6 + 1 }, OPEN, 'waiting-logs'],
  ['few builds start', { maxStartingBuilds: 6 }, { starting: 5, running: 0 }, OPEN, 'open'],
  ['many builds start', { maxStartingBuilds: 6 }, { starting: 6, running: 0 }, OPEN, 'starting-builds'],
  [
    'fewer may start the more run',
    { maxStartingBuilds: 6 },
    { starting: 2, running: 4 },
    OPEN,
    'starting-builds',
  ],
  ['some may always start', { maxStartingBuilds: 6 }, { starting: 1, running: 60 }, OPEN, 'open'],
])('when %s', (_when, limits, readings, before, expected) => {
  const found = judgeIntake({ ...OFF, ...limits }, { ...CALM, ...readings }, before);
  expect(found.kind === 'open' ? 'open' : found.sensor).toBe(expected);
});

const GB = 1_000_000_000;
test.each<[string, { readonly [name: string]: string }, number]>([
  ['no group', {}, 100],
  ['a group without a limit', { 'memory.max': 'max', 'memory.stat': `anon ${GB}` }, 100],
  ['version 2', { 'memory.max': String(GB), 'memory.stat': `file 999\nanon ${GB / 4}\n` }, 75],
  [
    'version 1',
    { 'memory/memory.limit_in_bytes': String(GB), 'memory/memory.stat': `total_rss ${GB / 2}` },
    50,
  ],
  ['version 1 without a limit', { 'memory/memory.limit_in_bytes': '9223372036854771712' }, 100],
])('memory of %s is read', (_what, files, percent) => {
  expect(availableInCgroup(name => files[name])).toBe(percent);
});

test('the machine is read once for all builds that begin and end in a quarter of a second', () => {
  let now = 1_000;
  let reads = 0;
  const machine = createMachineReader(
    () => ({ load: ++reads, processors: 1, availableMemory: 100 }),
    () => now,
  );
  expect([machine().load, machine().load]).toEqual([1, 1]);
  now += 249;
  expect(machine().load).toBe(1);
  now += 1;
  expect(machine().load).toBe(2);
});

test('a change is reported once, and what waits goes on when it opens or is given up', async () => {
  const machine = { load: 99, processors: 1, availableMemory: 100 };
  const changes: string[] = [];
  using governor = createGovernor(
    {
      limits: { ...OFF, loadMultiplier: 1 },
      onChange: intake => changes.push(intake.kind === 'open' ? 'open' : intake.text),
      machine: () => machine,
      intervalMs: 5,
    },
    () => ({ starting: 0, running: 0 }),
  );
  const { shuts } = governor;
  const stop = new AbortController();
  const given = governor.passed(stop.signal);
  const passed = governor.passed(new AbortController().signal);
  expect(shuts.aborted).toBe(true);
  stop.abort();
  await given;
  machine.load = 0;
  await passed;
  expect(governor.shuts.aborted).toBe(false);
  expect(changes).toEqual(['the load is 99.0, and builds are taken up to 1.0', 'open']);
});

test('what waits goes on when a second sensor had taken over from the first', async () => {
  const machine = { load: 99, processors: 1, availableMemory: 100 };
  const changes: string[] = [];
  using governor = createGovernor(
    {
      limits: { ...OFF, loadMultiplier: 1, minAvailMem: 50 },
      onChange: intake => changes.push(intake.kind === 'open' ? 'open' : intake.sensor),
      machine: () => machine,
      intervalMs: 60_000,
    },
    () => ({ starting: 0, running: 0 }),
  );
  const passed = governor.passed(new AbortController().signal);
  Object.assign(machine, { load: 0, availableMemory: 10 });
  governor.check();
  machine.availableMemory = 100;
  governor.check();
  await passed;
  expect(changes).toEqual(['load', 'memory', 'open']);
});

test('an executor takes no build while a sensor has it shut, also one that had waited before, and runs it then', async () => {
  const machine = { load: 0, processors: 1, availableMemory: 100 };
  const changes = { seen: [] as string[], next: Promise.withResolvers<void>() };
  await using bench = await openBench({
    governor: {
      limits: { ...OFF, loadMultiplier: 1 },
      machine: () => machine,
      intervalMs: 5,
      onChange(intake) {
        changes.seen.push(intake.kind);
        changes.next.resolve();
        changes.next = Promise.withResolvers();
      },
    },
  });
  const commit = await bench.commit({ 'ci/ok.sh': script('echo ran') });
  machine.load = 99;
  await changes.next.promise;
  const opened = changes.next.promise;
  const build = bench.submit(buildRequest(commit, { run: ['ci/ok.sh'] }));
  expect(bench.executor.running()).toEqual([]);
  machine.load = 0;
  await opened;
  expect((await build.ended).result.result).toBe('SUCCESS');
  expect(changes.seen).toEqual(['shut', 'open']);
});
