/** What timers leave in the store. */
import type { Tick, TimerMark } from '../../tick.ts';
import { list, nullable, object, project, text, time, uuid } from '../schema.ts';

/** {@link TimerMark}, the record `timers`. */
export const timerMarkSchema = object<TimerMark>({ upTo: time, timers: list(text) });

/** {@link Tick}, the record `tick`. */
export const tickSchema = object<Tick>({
  uuid,
  pipeline: text,
  time: text,
  at: time,
  from: time,
  to: time,
  after: nullable(text),
  only: nullable(project),
  queuedAt: time,
});
