/** Logs failed reads of a host: the first failure, a wait that has become long, and the recovery. */
import type { Connection } from '../../driver/connection.ts';
import { millisecondsBetween } from '../../lib/clock.ts';
import { durationText } from '../../lib/duration-text.ts';
import type { Log } from '../../lib/log.ts';
import type { ConnectionEvent } from '../../model/event.ts';
import { deliveryLogFacts } from '../../tracing/log-facts.ts';
import type { LaneTurn } from './event-lanes.ts';
import type { ReadEnd } from './read-host.ts';
import type { ReadTries } from './read-tries.ts';

/** Milliseconds: a wait that is longer is worth an operator's attention. */
const ALARM_MS = 5 * 60_000;

/**
 * @param turn its `hold` has the attempts before this read; by it a recovery is known.
 * @param event the first one.
 */
export function logRead(
  end: ReadEnd,
  turn: LaneTurn<ReadTries>,
  event: ConnectionEvent,
  { connection: { name }, log }: { readonly connection: Pick<Connection, 'name'>; readonly log: Log },
): void {
  const before = turn.hold?.failure?.kind === 'later' ? turn.hold : undefined;
  const failure = end.kind === 'held' ? end.tries.failure : undefined;
  const facts = { ...deliveryLogFacts(event), lane: turn.lane };
  if (end.kind === 'held' && failure?.kind === 'later') {
    const { reason, text } = failure;
    const waiting = { ...facts, reason, tries: end.tries.tries, ms: Math.round(end.ms) };
    const level = before === undefined ? 'warn' : isAlarming(before, end.tries) ? 'error' : 'debug';
    log[level](waiting, `an event of connection ${name} waits for the code host (${reason}): ${text}`);
    return;
  }
  if (before !== undefined)
    log.info(
      { ...facts, tries: before.tries },
      `the events of connection ${name} go on: ${servedAfter(before)}`,
    );
  if (end.kind === 'held' && failure?.kind === 'not-understood')
    log.warn(
      { ...facts, err: failure.error, tries: end.tries.tries },
      `an event of connection ${name} could not be processed; trying again`,
    );
}

/** The wait has become a long one with this attempt. */
function isAlarming(before: ReadTries, now: ReadTries): boolean {
  return msWaited(before) < ALARM_MS && msWaited(now) >= ALARM_MS;
}

function msWaited({ waits }: ReadTries): number {
  const last = waits.at(-1);
  return last === undefined ? 0 : millisecondsBetween(last.startedAt, last.endedAt);
}

function servedAfter(before: ReadTries): string {
  return `the code host did not serve for ${durationText(msWaited(before))}`;
}
