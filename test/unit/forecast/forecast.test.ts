/** Forecasts against days of a gate that the pure core ran: what was forecast, and what came of it. */
import { describe, expect, test } from 'vitest';
import { calibrationOf, checkForecast, landedByReport } from '../../../src/forecast/calibration.ts';
import { type Forecast, forecastQueues, type QueueWork } from '../../../src/forecast/forecast.ts';
import {
  type ItemWork,
  type JobWork,
  type QueuedWork,
  queuedWork,
  workAt,
} from '../../../src/forecast/item-work.ts';
import { finishedWork, recentWork, withUsual } from '../../../src/forecast/recent-work.ts';
import { type Nanoseconds, toMilliseconds } from '../../../src/lib/clock.ts';
import { derivedUuid } from '../../../src/lib/ids.ts';
import { projectKey } from '../../../src/model/project.ts';
import { endOfItem, type QueueItem } from '../../../src/model/queue-item.ts';
import { busyDays } from './busy-days.ts';

const MINUTE = 60_000;
const leftAt = (item: QueueItem) => toMilliseconds(endOfItem(item)!);

describe('of a busy gate in which one change in twelve fails', () => {
  const seen: { readonly at: Nanoseconds; readonly items: readonly QueueItem[] }[] = [];
  const gate = busyDays({
    seed: 7,
    changes: 130,
    every: 9 * MINUTE,
    bad: 1 / 12,
    watch: (pipeline, now) => {
      if (seen.length < now % 40) seen.push({ at: pipeline.world.now, items: pipeline.items() });
    },
  });
  const items = gate.left.filter(({ role }) => role === 'live');
  const byEntry = items.toSorted((a, b) => toMilliseconds(a.enqueuedAt) - toMilliseconds(b.enqueuedAt));
  const finished = items
    .toSorted((a, b) => leftAt(b) - leftAt(a))
    .map(item => ({ leftAt: leftAt(item), work: finishedWork(item) }));
  const recent = recentWork(finished.map(({ work }) => work));

  test('eight of ten changes land between early and late', () => {
    const landed = byEntry.filter(landedByReport).slice(25);
    const checked = landed.map(item => checkForecast(item, byEntry, finished, { kind: 'chain', window: 20 }));
    const { items: count, unknown, inside, error, took } = calibrationOf(checked);
    expect([count, unknown]).toEqual([landed.length, 0]);
    expect(Math.max(...checked.map(({ forecast }) => forecast?.place ?? 0))).toBeGreaterThan(5);
    expect(inside).toBeGreaterThan(0.7);
    expect(inside).toBeLessThan(0.92);
    expect(error!).toBeLessThan(took! / 3);
  });

  test('the first changes have no forecast, since no job has run', () => {
    const { forecast } = checkForecast(byEntry[0]!, byEntry, finished, { kind: 'chain', window: 20 });
    expect(forecast).toEqual({ kind: 'unknown', place: 1, why: { code: 'no-record' } });
  });

  test('a moment is read from finished items as it was', () => {
    const whole = new Map(items.map(item => [item.uuid, item]));
    const pairs = seen.flatMap(({ at, items: then }) =>
      then.map(item => [workAt(item, at), workAt(whole.get(item.uuid)!, at)] as const),
    );
    expect(pairs.length).toBeGreaterThan(50);
    // That no job had begun is not on record.
    for (const [live, later] of pairs) if (later.jobs !== null) expect(later).toEqual(live);
  });

  test('times are in order, and of one future with the same queue', () => {
    const queue = seen.toSorted((a, b) => b.items.length - a.items.length)[0]!;
    const work: QueueWork = {
      kind: 'chain',
      window: 20,
      items: queue.items.map(item => queuedWork(item, queue.at)),
    };
    const now = toMilliseconds(queue.at);
    const forecasts = forecastQueues([work], recent, now);
    expect(forecasts.size).toBe(queue.items.length);
    for (const [index, item] of queue.items.entries()) {
      const forecast = known(forecasts.get(item.uuid));
      expect(forecast.place).toBe(index + 1);
      expect(forecast.early).toBeGreaterThanOrEqual(now);
      expect(forecast.likely).toBeGreaterThanOrEqual(forecast.early);
      expect(forecast.late).toBeGreaterThanOrEqual(forecast.likely);
    }
    expect(forecastQueues([work], recent, now)).toEqual(forecasts);
  });

  test('an item that waits behind the window leaves later than without one', () => {
    const waiting = Array.from({ length: 6 }, (_, index) => itemOf(`w${index}`));
    const last = waiting[5]!.uuid;
    const likely = (window: number) =>
      known(forecastQueues([{ kind: 'chain', window, items: waiting.map(queued) }], recent, 0).get(last))
        .likely;
    expect(likely(1)).toBeGreaterThan(likely(3) + 20 * MINUTE);
    expect(likely(3)).toBeGreaterThan(likely(0) + 20 * MINUTE);
  });

  test('a failing job makes its item leave with a failure, and those behind it begin anew only once', () => {
    const [head, behind] = [itemOf('h', { integration: 'failing' }), itemOf('b')];
    const forecasts = forecastQueues(
      [{ kind: 'chain', window: 0, items: [head, behind].map(queued) }],
      recent,
      0,
    );
    expect(known(forecasts.get(head.uuid)).lands).toBe(0);
    expect(known(forecasts.get(behind.uuid)).undisturbed).toBe(1);
  });

  test('a merge conflict leaves with a failure, and its chance comes back when one ahead fails', () => {
    const conflict = { ...itemOf('c'), hasFailed: true, jobs: null };
    const leaves = (items: readonly ItemWork[]) =>
      known(
        forecastQueues([{ kind: 'chain', window: 0, items: items.map(queued) }], recent, 0).get(
          conflict.uuid,
        ),
      );
    expect(leaves([conflict]).lands).toBe(0);
    const behind = leaves([itemOf('a1'), itemOf('a2'), itemOf('a3'), conflict]);
    expect(behind.lands).toBeGreaterThan(0);
    expect(behind.lands).toBeLessThanOrEqual(1 - behind.undisturbed);
  });

  test('a job that passed elsewhere counts with its usual duration', () => {
    const withNew = withUsual(recent, (_, name) => (name === 'new-job' ? 40 * MINUTE : undefined));
    const item = itemOf('n', {}, 'new-job');
    const forecast = known(
      forecastQueues([{ kind: 'alone', window: 0, items: [queued(item)] }], withNew, 0).get(item.uuid),
    );
    expect(forecast.likely).toBeGreaterThan(35 * MINUTE);
    expect(forecast.late).toBeLessThan(80 * MINUTE);
  });

  test.each<[string, readonly ItemWork[], string, Forecast]>([
    [
      'a job that never passed',
      [itemOf('a', {}, 'new-job')],
      'a',
      { kind: 'unknown', place: 1, why: { code: 'no-record', job: 'new-job' } },
    ],
    [
      'a project without finished changes',
      [{ ...itemOf('a'), project: projectKey({ connection: 'local', name: 'other' }), jobs: null }],
      'a',
      { kind: 'unknown', place: 1, why: { code: 'no-record' } },
    ],
    [
      'a failing host',
      [{ ...itemOf('a'), waitsForHost: true }],
      'a',
      { kind: 'unknown', place: 1, why: { code: 'host' } },
    ],
    [
      'an unknown item ahead',
      [itemOf('a'), { ...itemOf('b'), waitsForHost: true }, itemOf('c'), itemOf('d')],
      'd',
      { kind: 'unknown', place: 4, why: { code: 'ahead', place: 2 } },
    ],
  ])('%s is a reason to say nothing', (_, queue, name, forecast) => {
    const forecasts = forecastQueues([{ kind: 'chain', window: 20, items: queue.map(queued) }], recent, 0);
    expect(forecasts.get(derivedUuid('item', name))).toEqual(forecast);
  });

  test('a paused queue has the reason, but for items all of whose jobs have begun', () => {
    const running = itemOf('r');
    const begun = {
      ...running,
      jobs: running.jobs!.map(job => ({
        ...job,
        progress: { state: 'started' as const, since: -MINUTE, failing: false },
      })),
    };
    const items = [begun, itemOf('p'), itemOf('q')].map(queued);
    const paused = { kind: 'chain', window: 20, paused: 'no disk (bob)', items } as const;
    const forecasts = forecastQueues([paused], recent, 0);
    expect(forecasts.get(begun.uuid)?.kind).toBe('known');
    for (const [index, name] of ['p', 'q'].entries())
      expect(forecasts.get(derivedUuid('item', name))).toEqual({
        kind: 'unknown',
        place: index + 2,
        why: { code: 'paused', reason: 'no disk (bob)' },
      });
  });

  describe('a job that waits for a semaphore', () => {
    const withUnit = (name: string, unit: Partial<JobWork>): ItemWork => {
      const item = itemOf(name);
      const ended = { state: 'ended' as const, at: -MINUTE, good: true };
      return {
        ...item,
        jobs: item.jobs!.map(job =>
          job.name === 'unit' ? { ...job, semaphores: ['db'], ...unit } : { ...job, progress: ended },
        ),
      };
    };
    const holding = withUnit('h', { progress: { state: 'started', since: 0, failing: false } });
    const waiting = (name: string) => withUnit(name, { awaitsSince: 0 });
    const likely = (items: readonly ItemWork[], work = recent) => {
      const forecasts = forecastQueues([{ kind: 'alone', window: 0, items: items.map(queued) }], work, 0);
      return items.map(item => known(forecasts.get(item.uuid)).likely / MINUTE);
    };

    test('begins when the job that holds it has ended, and those behind it one after the other', () => {
      const [free] = likely([withUnit('w', {})]);
      const [held, first, second] = likely([holding, waiting('w'), waiting('x')]);
      expect(first! - held!).toBeGreaterThan(free! * 0.6);
      expect(second! - first!).toBeGreaterThan(free! * 0.6);
    });

    test('waits as long as others did where none of the queue holds it', () => {
      const waits = { ...recent, semaphoreWaits: () => [40 * MINUTE, 50 * MINUTE] };
      expect(likely([waiting('w')], waits)[0]!).toBeGreaterThan(likely([withUnit('w', {})])[0]! + 35);
    });
  });

  test('a hundred items ahead are too many, and no more is read of those behind them', () => {
    const queue = Array.from({ length: 130 }, (_, index) => itemOf(`far${index}`));
    const read: ItemWork[] = [];
    const items = queue.map(work => ({
      ...work,
      work: () => {
        read.push(work);
        return work;
      },
    }));
    const forecasts = forecastQueues([{ kind: 'chain', window: 20, items }], recent, 0);
    expect([...forecasts.keys()]).toEqual(queue.slice(0, 100).map(({ uuid }) => uuid));
    expect(read).toEqual(queue.slice(0, 100));
  });

  test('items that do not depend on each other are of no effect on each other', () => {
    const [slow, fast] = [itemOf('s', {}, 'new-job'), itemOf('f')];
    const forecasts = forecastQueues(
      [{ kind: 'alone', window: 0, items: [slow, fast].map(queued) }],
      recent,
      0,
    );
    expect(forecasts.get(slow.uuid)?.kind).toBe('unknown');
    expect(known(forecasts.get(fast.uuid)).undisturbed).toBe(1);
  });
});

function known(forecast: Forecast | undefined) {
  if (forecast?.kind !== 'known') throw new Error(`no forecast: ${JSON.stringify(forecast)}`);
  return forecast;
}

function queued(work: ItemWork): QueuedWork {
  return { ...work, work: () => work };
}

/** An item whose jobs begin now, at time 0. @param failing jobs that run and are certain to fail. */
function itemOf(name: string, failing: { readonly [job: string]: 'failing' } = {}, more?: string): ItemWork {
  const jobs = ['lint', 'unit', 'integration', ...(more === undefined ? [] : [more])];
  return {
    uuid: derivedUuid('item', name),
    project: projectKey({ connection: 'local', name: 'app' }),
    isDependency: false,
    waitsForHost: false,
    hasFailed: false,
    jobs: jobs.map(
      (job): JobWork => ({
        name: job,
        voting: true,
        after: job === 'lint' ? [] : ['lint'],
        semaphores: [],
        progress:
          failing[job] === undefined
            ? { state: 'waiting' }
            : { state: 'started', since: -MINUTE, failing: true },
      }),
    ),
  };
}
