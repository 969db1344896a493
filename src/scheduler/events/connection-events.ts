/**
 * Station 2: takes the events of one connection, lets its driver read the host, and hands what came of it to the tenants.
 *
 * The driver cuts the events into lanes (by repository, say). Within a lane events are processed in order, one at a time; lanes run
 * side by side, so a slow repository delays no other, and an event of an idle lane begins at once. Events of a lane that ask the
 * driver for the same look are answered together: one reading of the host, one trace, which names the deliveries it answers; only
 * those that were stored before the look began.
 *
 * A lane whose host does not serve rests, and its events stay in the queue. See event-look.ts for what comes of a look.
 */
import { pause } from '../../lib/pause.ts';
import type { MetricsSink } from '../../metrics/registry.ts';
import { isNewerRecord } from '../../model/codec/record.ts';
import type { Fence } from '../../store/fence.ts';
import { connectionMeasurements } from './connection-report.ts';
import { createEventLanes, type EventLanes, type LaneTurn } from './event-lanes.ts';
import { type LookDeps, lookAtHost } from './event-look.ts';
import { reportLook } from './look-log.ts';
import type { LookTries } from './look-tries.ts';

/**
 * Lanes of one connection under way at a time. With 300 ms at the host for each event that is 50 events a second, and no more git
 * processes or open requests than a machine and a host's rules for one client bear.
 */
const AT_ONCE = 16;
/** Of them, lanes that are tried again: many repositories that hang leave room for those that are served. */
const RETRIES_AT_ONCE = 4;

export interface ConnectionEventsDeps extends LookDeps {
  /** Absent: nobody reads them. */
  readonly metrics?: Pick<MetricsSink, 'source'>;
  /** Called after each look, with the lanes that are in trouble. */
  onLook?(troubled: EventLanes<LookTries>['troubled']): void;
}

/** Returns when aborted; throws when the fence is lost. */
export async function processConnectionEvents(
  deps: ConnectionEventsDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  const { queue, connection } = deps;
  const lanes = createEventLanes<LookTries>();
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
    // What is before it in the queue has had its try; the rest is for an upgraded scheduler.
    if (newer !== undefined && running.size === 0) failed.abort(newer);
  }

  async function take(turn: LaneTurn<LookTries>): Promise<void> {
    const [first, ...others] = await queue.read(turn.events.map(({ path }) => path));
    if (first === undefined) {
      lanes.done(turn.lane);
      return;
    }
    const signals = { stop, abandoned: failed.signal };
    const end = await lookAtHost([first, ...others], turn.hold, deps, fence, signals);
    reportLook(end, turn, first.value, deps);
    if (end.kind === 'taken') {
      lanes.done(turn.lane);
      deps.onLook?.(lanes.troubled);
      return;
    }
    lanes.hold(turn, end.tries);
    deps.onLook?.(lanes.troubled);
    void pause(end.ms, stop).then(() => {
      lanes.goOn(turn.lane);
      begin();
    });
  }

  async function takeIn(known: Set<string>): Promise<void> {
    try {
      for await (const entries of queue.additions(known)) {
        for (const { path, value } of entries)
          lanes.add(connection.source.lane?.(value) ?? '', {
            path,
            look: connection.source.coalesceKey?.(value),
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
