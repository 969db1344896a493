/** Timers on a store: one event for each tick, project and branch, in any scheduler, and none for what was missed. */
import { expect, onTestFinished, test } from 'vitest';
import { createDirty } from '../../../../src/lib/signal.ts';
import { pipelineEventCodec, tickCodec, timerMarkCodec } from '../../../../src/model/codec/records.ts';
import type { PipelineEvent } from '../../../../src/model/event.ts';
import { parseCommitId, projectKey } from '../../../../src/model/project.ts';
import type { Tick } from '../../../../src/model/tick.ts';
import { type ForwardTicksDeps, forwardTicks } from '../../../../src/scheduler/timers/forward-ticks.ts';
import { runTimers, type TimersDeps } from '../../../../src/scheduler/timers/run-timers.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { EventQueue } from '../../../../src/store/event-queue.ts';
import { acquireFence, type Fence } from '../../../../src/store/fence.ts';
import { gatePipeline } from '../../../fake/pipeline.ts';
import { openStand } from '../stand.ts';
import { untilMet } from '../until-met.ts';

const APP = projectKey({ connection: 'here', name: 'org/app' });
const FAR = projectKey({ connection: 'away', name: 'org/far' });
const COMMIT = parseCommitId('a'.repeat(40));

class HostAway extends Error {
  readonly retryable = true;
}

/** 2026-01-01T00:00:00Z, a Thursday. */
const MIDNIGHT = Date.parse('2026-01-01T00:00:00Z');

/** A tenant with a pipeline that starts every minute, on two branches of one project and one of another. */
async function openTimers(time = '* * * * *') {
  const stand = openStand();
  const { store, paths, clock, ids, log } = stand;
  const places = paths.tenant('acme');
  const ticks = new EventQueue<Tick>({ store, path: places.ticks, codec: tickCodec, clock });
  const events = new EventQueue<PipelineEvent>({
    ...{ store, clock, codec: pipelineEventCodec },
    path: paths.pipeline('acme', 'nightly').eventQueue,
  });
  await ticks.prepare();
  await events.prepare();
  for (const path of [places.timers, paths.spanOutbox, paths.historyOutbox]) await ensureNode(store, path);
  const pipeline = gatePipeline({
    name: 'nightly',
    triggers: [{ connection: 'timer', config: { time }, definedAt: 'x' }],
  });
  const pipelines = new Set(['nightly']);
  const config = {
    tenant: { name: 'acme', projects: [] },
    branches: new Map([
      [
        APP,
        new Map([
          ['master', {}],
          ['stable', {}],
        ]),
      ],
      [FAR, new Map([['master', {}]])],
    ]),
    layout: {
      pipelines: new Map([['nightly', pipeline]]),
      projects: new Map([
        [APP, { pipelines }],
        [FAR, { pipelines }],
      ]),
    },
  } as unknown as NonNullable<ReturnType<TimersDeps['config']>>;
  let now = MIDNIGHT;
  const missed: number[] = [];
  const away = new Set<string>();
  const branches = (connection: string) => async () => {
    if (away.has(connection)) throw new HostAway('the host is away');
    return ['master', 'stable'].map(branch => ({ branch, commit: COMMIT }));
  };
  const connections = new Map(['here', 'away'].map(name => [name, { source: { branches: branches(name) } }]));
  const own = {
    ...{ tenant: 'acme', store, clock, ids, log, paths, ticks, connections },
    path: places.timers,
    metrics: {
      record: (all: readonly { value: number }[]) => void missed.push(...all.map(({ value }) => value)),
    },
    wall: () => now,
    config: () => config,
    pauses: [1],
    eventsOf: () => events,
    changes: {
      record: () => undefined,
      operations: () => [],
      remember: () => {},
      conflict: async () => false,
    },
    tracing: { spans: () => undefined, policy: () => ({ ratio: 1, keep: [] }), isSampled: () => true },
  } as unknown as Omit<TimersDeps, 'wake'> & ForwardTicksDeps;
  return {
    stand,
    missed,
    away,
    /** The machine's clock. */
    set(seconds: number) {
      now = MIDNIGHT + seconds * 1_000;
    },
    upTo: async () => {
      const { data = new Uint8Array() } = (await store.get(places.timers)) ?? {};
      return data.length === 0
        ? undefined
        : Number(BigInt(timerMarkCodec.decode(data).upTo) / 1_000_000_000n) - MIDNIGHT / 1_000;
    },
    events: async () =>
      (await events.list()).flatMap(({ value }) =>
        value.kind === 'enqueue' ? [`${value.trigger.project} ${value.trigger.branch}`] : [],
      ),
    /**
     * A scheduler with a session of its own that holds the tenant, as soon as no other does.
     *
     * @param commits after so many its process is killed: the next commit is not made, and its session ends.
     */
    async hold(commits = Number.POSITIVE_INFINITY) {
      const stop = new AbortController();
      const session = stand.connect();
      const fence = await acquireFence(session, {
        lockPath: places.lock,
        epochPath: places.epoch,
        lastOperationPath: places.lastOperation,
        guid: ids.uuid(),
      });
      let made = 0;
      const killed = Promise.withResolvers<void>();
      const mortal: Fence = new Proxy(fence, {
        get: (target, name) =>
          name === 'commit'
            ? async (...args: Parameters<Fence['commit']>) => {
                if (made >= commits) {
                  killed.resolve();
                  stop.abort(new Error('killed'));
                  await session.close();
                  throw new Error('killed');
                }
                made += 1;
                return target.commit(...args);
              }
            : Reflect.get(target, name, target),
      });
      const wake = createDirty();
      const running = [
        runTimers({ ...own, store: session, wake }, mortal, stop.signal),
        forwardTicks(own, mortal, stop.signal),
      ];
      for (const loop of running) loop.catch(() => {});
      let ended = false;
      const end = async () => {
        if (ended) return;
        ended = true;
        stop.abort(new Error('the test ends'));
        await Promise.allSettled(running);
        if (made < commits) await fence.release();
        await session.close();
      };
      onTestFinished(end);
      return { wake: () => wake.set(), end, killed: killed.promise, made: () => made };
    },
  };
}

const ALL = [`${FAR} master`, `${APP} master`, `${APP} stable`];

test('a timer that is new begins with its next time, and makes one event for each project and branch', async () => {
  const timers = await openTimers();
  timers.set(30);
  const holder = await timers.hold();
  await untilMet(async () => expect(await timers.upTo()).toBe(30));
  expect(await timers.events()).toEqual([]);
  timers.set(60);
  holder.wake();
  await untilMet(async () => expect(await timers.events()).toEqual(ALL));
  holder.wake();
  timers.set(80);
  holder.wake();
  await holder.end();
  expect(await timers.events()).toEqual(ALL);
  expect(timers.missed).toEqual([]);
});

test('a scheduler that takes the tenant over within a minute makes the events, and those of before are not made again', async () => {
  const timers = await openTimers();
  const first = await timers.hold();
  await untilMet(async () => expect(await timers.upTo()).toBe(0));
  timers.set(60);
  first.wake();
  await untilMet(async () => expect(await timers.events()).toEqual(ALL));
  await first.end();
  timers.set(125);
  const second = await timers.hold();
  await untilMet(async () => expect(await timers.events()).toEqual([...ALL, ...ALL]));
  await second.end();
  expect(timers.missed).toEqual([]);
});

test('what was due while no scheduler held the tenant is counted and not made up', async () => {
  const timers = await openTimers();
  const first = await timers.hold();
  await untilMet(async () => expect(await timers.upTo()).toBe(0));
  await first.end();
  timers.set(630);
  const second = await timers.hold();
  await untilMet(async () => expect(await timers.events()).toEqual(ALL));
  await second.end();
  // Nine minutes of three branches; the tenth is half a minute late.
  expect(timers.missed).toEqual([27]);
});

test('a clock that goes back a little makes nothing twice, and one that goes back far does not silence the timers', async () => {
  const timers = await openTimers();
  const holder = await timers.hold();
  await untilMet(async () => expect(await timers.upTo()).toBe(0));
  timers.set(60);
  holder.wake();
  await untilMet(async () => expect(await timers.events()).toEqual(ALL));
  timers.set(30);
  holder.wake();
  timers.set(61);
  holder.wake();
  await holder.end();
  expect(await timers.events()).toEqual(ALL);
  timers.set(-86_400);
  const again = await timers.hold();
  await untilMet(async () => expect(await timers.upTo()).toBe(-86_400));
  timers.set(-86_340);
  again.wake();
  await untilMet(async () => expect(await timers.events()).toEqual([...ALL, ...ALL]));
  await again.end();
});

test('a project whose host is away gets its event later, and the others do not wait for it', async () => {
  const timers = await openTimers();
  timers.away.add('away');
  const holder = await timers.hold();
  await untilMet(async () => expect(await timers.upTo()).toBe(0));
  timers.set(60);
  holder.wake();
  await untilMet(async () => expect(await timers.events()).toEqual([`${APP} master`, `${APP} stable`]));
  timers.away.clear();
  await untilMet(async () =>
    expect(await timers.events()).toEqual([`${APP} master`, `${APP} stable`, `${FAR} master`]),
  );
  await holder.end();
  expect(timers.missed).toEqual([]);
});

test.each([1, 2])(
  'a scheduler that is killed after commit %i of a tick leaves the rest to the one that waits: each event comes once',
  async commits => {
    const timers = await openTimers();
    // The mark of the first look, which is not of the tick.
    const before = await timers.hold();
    await untilMet(async () => expect(await timers.upTo()).toBe(0));
    await before.end();
    timers.set(60);
    const first = await timers.hold(commits);
    // It contends for the tenant while the first is at work.
    const second = timers.hold();
    first.wake();
    await first.killed;
    const made = await timers.events();
    // The commit of the mark with its tick, then one for each of two projects.
    expect(made).toEqual(ALL.slice(0, commits - 1));
    const holder = await second;
    await untilMet(async () => expect(await timers.events()).toEqual(ALL));
    // Another look, and nothing comes twice.
    holder.wake();
    timers.set(80);
    holder.wake();
    await holder.end();
    expect(await timers.events()).toEqual(ALL);
    expect(timers.missed).toEqual([]);
  },
);

test('a scheduler that is killed before the commit of a tick has made nothing of it, and the next one does', async () => {
  const timers = await openTimers();
  const before = await timers.hold();
  await untilMet(async () => expect(await timers.upTo()).toBe(0));
  await before.end();
  timers.set(60);
  const first = await timers.hold(0);
  const second = timers.hold();
  first.wake();
  await first.killed;
  expect([await timers.upTo(), await timers.events()]).toEqual([0, []]);
  const holder = await second;
  await untilMet(async () => expect(await timers.events()).toEqual(ALL));
  await holder.end();
  expect(timers.missed).toEqual([]);
});
