/**
 * Time for one pipeline's records: the process's own, but never before a recorded time.
 *
 * Clocks of machines differ: the next holder's clock may be behind, and so may be the clock of a worker whose result is taken. With
 * times that step back, a child would end after its parent, and an item before its start. So a clock that is behind counts
 * nanoseconds up from the latest recorded time until the real time has caught up.
 *
 *     const clock = pipelineClock(deps.clock);
 *     clock.catchUp(state.items.values());     // after loading; and with the events of each turn
 */
import { type Clock, type Nanoseconds, parseNanoseconds } from '../../lib/clock.ts';
import type { HostWait } from '../../model/host-trouble.ts';

/** Its times strictly increase for as long as the object lives. */
export interface PipelineClock extends Clock {
  /** From now on `now` is later than every time in these records. */
  catchUp(records: Iterable<object>): void;
}

/** A time in a record, and nothing else: 19 digits, from the year 2001 to 2286. */
const TIME = /^[1-9]\d{18}$/;

/** @param clock the process's own; `monotonic` is passed on. */
export function pipelineClock(clock: Clock): PipelineClock {
  let last = 0n;
  return {
    now() {
      const real = BigInt(clock.now());
      last = real > last ? real : last + 1n;
      return parseNanoseconds(last.toString());
    },
    monotonic: () => clock.monotonic(),
    catchUp(records) {
      const time = BigInt(latestTime(records));
      if (time > last) last = time;
    },
  };
}

/** Fields with future times: when something is to be done. */
const FUTURE: ReadonlySet<string> = new Set<keyof HostWait>(['retryAt', 'notBefore']);

/** The latest past time in any of these records; 0 when there is none. */
export function latestTime(records: Iterable<object>): Nanoseconds {
  let latest = 0n;
  for (const record of records) {
    const time = latestIn(record);
    if (time > latest) latest = time;
  }
  return parseNanoseconds(latest.toString());
}

function latestIn(value: unknown): bigint {
  if (typeof value === 'string') return TIME.test(value) ? BigInt(value) : 0n;
  if (typeof value !== 'object' || value === null) return 0n;
  let latest = 0n;
  for (const [name, part] of Object.entries(value)) {
    if (FUTURE.has(name)) continue;
    const time = latestIn(part);
    if (time > latest) latest = time;
  }
  return latest;
}
