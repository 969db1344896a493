/**
 * Stage 2: takes the events of one connection, lets its driver read the host, and forwards the result to the tenants.
 *
 * The driver assigns each event to a lane (by repository, say). Within a lane events are processed in order, one at a time; lanes
 * run side by side, so a slow repository delays no other, and an event of an idle lane begins immediately. Events of a lane that
 * need the same read of the host are processed together: one read, one trace, which names the deliveries it answers. Only events
 * that were stored before the read began are among them.
 *
 * A lane whose events come in storms rests after a read: the next one answers all that came meanwhile.
 * A lane whose host does not serve pauses, and its events stay in the queue. See read-host.ts for the outcomes of a read.
 */
import { pause } from '../../lib/pause.ts';
import type { MetricsSink } from '../../metrics/registry.ts';
import { isNewerRecord } from '../../model/codec/record.ts';
import type { Fence } from '../../store/fence.ts';
import { connectionMeasurements } from './connection-report.ts';
import { createEventLanes, type EventLanes, type LaneTurn } from './event-lanes.ts';
import { type HostReadDeps, readHost } from './read-host.ts';
import { logRead } from './read-log.ts';
import type { ReadTries } from './read-tries.ts';

/**
 * Lanes of one connection processed at a time. With 300 ms at the host for each event that is 50 events a second, within the git
 * processes that a machine can run and the requests that a host allows one client.
 */
const AT_ONCE = 16;
/** Of them, lanes that are retried: repositories that hang leave room for those that are served. */
const RETRIES_AT_ONCE = 4;
/** A lane rests until none of its events came for so many milliseconds, and for so many times that at most. */
const REST = { ms: 1_000, times: 15 };

/** Of one connection, passed by its holder (connection-runner.ts). */
export interface ConnectionEventsDeps extends HostReadDeps {
  /** Absent: metrics are off. */
  readonly metrics?: Pick<MetricsSink, 'source'>;
  /** Called after each read, with the lanes that are in trouble. */
  onRead?(troubled: EventLanes<ReadTries>['troubled']): void;
}

/** Returns when aborted; throws when the fence is lost. */
export async function processConnectionEvents(
  deps: ConnectionEventsDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  const { queue, connection } = deps;
  const lanes = createEventLanes<ReadTries>();
  using _metrics = deps.metrics?.source(() => connectionMeasurements(connection, lanes.troubled()));
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  const running = new Set<Promise<void>>();
  let retries = 0;
  let newer: unknown;

  function begin(): void {
    while (!stop.aborted && running.size < AT_ONCE) {
      const turn = lanes.take(retries < RETRIES_AT_ONCE);
      if (turn === undefined) break;
      const isRetry = turn.hold !== undefined;
      if (isRetry) retries += 1;
      const task = take(turn)
        .catch(error => failed.abort(error))
        .finally(() => {
          running.delete(task);
          if (isRetry) retries -= 1;
          begin();
        });
      running.add(task);
    }
    // The events before it were tried; the rest is left to an upgraded scheduler.
    if (newer !== undefined && running.size === 0) failed.abort(newer);
  }

  async function take(turn: LaneTurn<ReadTries>): Promise<void> {
    const [first, ...others] = await queue.read(turn.events.map(({ path }) => path));
    if (first === undefined) {
      lanes.done(turn.lane);
      return;
    }
    const signals = { stop, abandoned: failed.signal };
    const end = await readHost([first, ...others], turn.hold, deps, fence, signals);
    logRead(end, turn, first.value, deps);
    if (end.kind === 'taken') {
      deps.onRead?.(lanes.troubled);
      if (connection.source.comesInStorms?.(first.value) === true)
        void rest(turn.lane, lanes, stop).then(begin);
      else lanes.done(turn.lane);
      return;
    }
    lanes.hold(turn, end.tries);
    deps.onRead?.(lanes.troubled);
    void pause(end.ms, stop).then(() => {
      lanes.release(turn.lane);
      begin();
    });
  }

  async function takeIn(known: Set<string>): Promise<void> {
    try {
      for await (const entries of queue.additions(known)) {
        for (const { path, value } of entries)
          lanes.add(connection.source.lane?.(value) ?? '', {
            path,
            readKey: connection.source.coalesceKey?.(value),
          });
        begin();
      }
    } catch (error) {
      if (!isNewerRecord(error)) throw error;
      newer = error;
      begin();
    }
  }

  try {
    const known = new Set<string>();
    for await (const _ of queue.arrivals(stop)) await takeIn(known);
  } catch (error) {
    failed.abort(error);
  }
  while (running.size > 0) await Promise.allSettled(running);
  if (failed.signal.aborted && !(signal.aborted && failed.signal.reason === signal.reason))
    throw failed.signal.reason;
}

/** Ends in `done`. The events that come meanwhile are in the queue, so nothing is lost when this process dies. */
async function rest(lane: string, lanes: EventLanes<ReadTries>, signal: AbortSignal): Promise<void> {
  for (let times = 0, seen = -1; times < REST.times && lanes.waiting(lane) !== seen; times++) {
    seen = lanes.waiting(lane);
    await pause(REST.ms, signal);
  }
  lanes.done(lane);
}
