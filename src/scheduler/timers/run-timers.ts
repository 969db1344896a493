/**
 * The timers of a tenant, in the scheduler that holds it. One alarm is set for the next moment; when it goes off, what is due is stored as
 * ticks, in one commit with the mark up to which timers have ticked. So each tick comes once, in any scheduler. Moments that passed
 * more than a minute ago, while no scheduler held the tenant, are reported and not made up.
 *
 * A map of the folder: timetable.ts (what is due, pure), run-timers.ts, forward-ticks.ts (from ticks to events), tick-event.ts (one event).
 */
import { type Clock, fromMilliseconds, toMilliseconds } from '../../lib/clock.ts';
import { derivedUuid, type IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { Dirty } from '../../lib/signal.ts';
import type { MetricsSink } from '../../metrics/registry.ts';
import { timerMarkCodec } from '../../model/codec/records.ts';
import type { TenantName } from '../../model/project.ts';
import type { Tick, TimerMark } from '../../model/tick.ts';
import type { EventQueue } from '../../store/event-queue.ts';
import type { Fence } from '../../store/fence.ts';
import { type Store, set } from '../../store/port.ts';
import { readNow } from '../../store/read-now.ts';
import type { TenantConfig } from '../tenant/tenant-config.ts';
import { type DueTick, dueBetween, type MissedTicks, nextMoment, type Timer, timersOf } from './timetable.ts';

/** Of one tenant. */
export interface TimersDeps {
  readonly tenant: TenantName;
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: IdMaker;
  readonly log: Log;
  /** Absent: metrics are off. */
  readonly metrics?: Pick<MetricsSink, 'record'>;
  /** Place of the mark; the node exists. */
  readonly path: string;
  readonly ticks: EventQueue<Tick>;
  /** Milliseconds since the Unix epoch by the machine's clock, which may be set: times of people are its times. */
  wall(): number;
  /** The configuration in force. */
  config(): TenantConfig | undefined;
  /** Set when there is another one. */
  readonly wake: Dirty;
}

/** Milliseconds after which the machine's clock is looked at in any case: it may have been set, or the machine may have slept. */
const LOOK_AGAIN = 30_000;
/** Milliseconds by which the machine's clock may go back without anything coming twice; after more, timers begin anew. */
const MOST_BACK = 3_600_000;

/** Returns never; throws when aborted, or when the fence is lost. */
export async function runTimers(deps: TimersDeps, fence: Fence, signal: AbortSignal): Promise<void> {
  let mark = await readMark(deps, signal);
  let config: TenantConfig | undefined;
  let timers: readonly Timer[] = [];
  let next: number | null = null;
  let seen = deps.wall();
  for (;;) {
    const now = deps.wall();
    const present = deps.config();
    const isNew = present !== config;
    if (isNew || now < seen || (next !== null && now >= next)) {
      const before = config === undefined && present !== undefined ? timersOf(present) : timers;
      if (isNew) timers = present === undefined ? [] : timersOf(present);
      config = present;
      mark = await look(mark, { before, timers, isNew, now }, deps, fence);
      next = nextMoment(timers, now);
    }
    seen = now;
    await moment(next, deps, signal);
  }
}

async function moment(next: number | null, { wall, wake }: TimersDeps, signal: AbortSignal): Promise<void> {
  const ms = next === null ? Infinity : Math.max(next - wall(), 1);
  const alarm = next === null ? undefined : setTimeout(() => wake.set(), Math.min(ms, LOOK_AGAIN));
  try {
    await wake.wait(signal);
  } finally {
    clearTimeout(alarm);
  }
}

async function readMark({ store, path }: TimersDeps, signal: AbortSignal): Promise<TimerMark | undefined> {
  const stored = await readNow(store, () => store.get(path), signal);
  return stored === undefined || stored.data.length === 0 ? undefined : timerMarkCodec.decode(stored.data);
}

interface Present {
  /** Those in force since the last look. */
  readonly before: readonly Timer[];
  readonly timers: readonly Timer[];
  readonly isNew: boolean;
  /** By the machine's clock. */
  readonly now: number;
}

/** @returns the mark as it is stored afterwards. */
async function look(
  mark: TimerMark | undefined,
  { before, timers, isNew, now }: Present,
  deps: TimersDeps,
  fence: Fence,
): Promise<TimerMark | undefined> {
  const known = new Set(mark?.timers);
  const names = timers.map(({ name }) => name);
  const upTo = mark === undefined ? now : notFarAhead(toMilliseconds(mark.upTo), now, deps);
  const due = dueBetween(
    before.filter(({ name }) => known.has(name)),
    upTo,
    now,
  );
  const isSame = names.length === known.size && names.every(name => known.has(name));
  const isDue = due.ticks.length > 0 || due.missed.length > 0;
  if (!isDue && isSame && (!isNew || names.length === 0)) return mark;
  const next = { upTo: fromMilliseconds(Math.max(upTo, now)), timers: names };
  const puts = due.ticks.flatMap(each => deps.ticks.put(tickOf(each, deps)));
  await fence.commit([...puts, set(deps.path, timerMarkCodec.encode(next))], deps.ids.uuid());
  for (const each of due.missed) reportMissed(each, deps);
  return next;
}

/** A clock that ran far ahead and was set back would keep the timers silent until that time comes again. */
function notFarAhead(upTo: number, now: number, { tenant, log }: TimersDeps): number {
  if (upTo - now <= MOST_BACK) return upTo;
  const seconds = Math.round((upTo - now) / 1_000);
  log.warn({ tenant, seconds }, 'the clock was set back by more than an hour; timers may tick again');
  return now;
}

function tickOf({ timer, at, from, to }: DueTick, { tenant, clock }: TimersDeps): Tick {
  const [first, last] = [fromMilliseconds(from), fromMilliseconds(to)];
  return {
    uuid: derivedUuid(tenant, timer.name, `${at}`, first),
    pipeline: timer.pipeline,
    time: timer.time,
    at: fromMilliseconds(at),
    from: first,
    to: last,
    after: null,
    only: null,
    queuedAt: clock.now(),
  };
}

function reportMissed({ timer, events, isMore }: MissedTicks, { tenant, log, metrics }: TimersDeps): void {
  const { pipeline, time } = timer;
  log.warn(
    { tenant, pipeline, time, events, isMore },
    `timer "${time}" of pipeline ${pipeline} was due while no scheduler held the tenant, or before its clock was set; nothing is made up for it`,
  );
  metrics?.record([{ metric: 'gatehouse_timer_events_missed', labels: { tenant, pipeline }, value: events }]);
}
