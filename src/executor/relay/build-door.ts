/**
 * The door to one build's intake: what a job asks of us before a single span is taken is bounded here. A job may open many connections and send
 * many requests on each before it reads an answer; all of that is memory and time of the executor, which others need too.
 */
import type { Socket } from 'node:net';
import { createLimiter } from '../../tracing/otlp/limiter.ts';
import { REQUEST_LIMITS } from '../../tracing/otlp-in/request-limits.ts';
import type { BuildIntake } from './build-relay.ts';
import type { RelayLimits } from './relay-quota.ts';

export interface BuildDoor {
  readonly intake: BuildIntake;
  /**
   * Does `work` when it is its turn.
   *
   * @returns why not; nothing was done then.
   */
  enter(socket: Socket, work: () => Promise<void>): Promise<void> | Refusal;
  /** Notes how much was read for the build, unpacked: in the end nothing more is. */
  charge(bytes: number): void;
}

type Refusal =
  /** More requests wait than we hold: later there is room. */
  | 'crowded'
  /** The connection sends request after request without waiting for answers. */
  | 'flooded'
  /** So much was read of this build that nothing more will be. */
  | 'spent';

/** Bodies of one build that are in memory at a time: the others wait in their sockets. */
const BODIES_AT_ONCE = 4;
/** Requests of one build that are open: one for each connection a sandbox may have. */
const MOST_OPEN = 128;
/** Requests of one connection that are open: exporters wait for an answer before they send the next. */
const MOST_PIPELINED = 4;
/** Told again because an answer was lost, rejected, or packed with less of interest than room: so many times the quota. */
const READ_PER_QUOTA = 4;

export function buildDoor(intake: BuildIntake, limits: Pick<RelayLimits, 'bytes'>): BuildDoor {
  const inTurn = createLimiter(BODIES_AT_ONCE);
  const openOf = new WeakMap<Socket, number>();
  let open = 0;
  let readable = READ_PER_QUOTA * (limits.bytes + REQUEST_LIMITS.bodyBytes);

  function count(socket: Socket, step: 1 | -1): void {
    open += step;
    openOf.set(socket, (openOf.get(socket) ?? 0) + step);
  }

  async function takeTurn(socket: Socket, work: () => Promise<void>): Promise<void> {
    count(socket, 1);
    try {
      await inTurn(work);
    } finally {
      count(socket, -1);
    }
  }

  return {
    intake,
    enter(socket, work) {
      if (readable <= 0) return 'spent';
      if ((openOf.get(socket) ?? 0) >= MOST_PIPELINED) return 'flooded';
      return open >= MOST_OPEN ? 'crowded' : takeTurn(socket, work);
    },
    charge(bytes) {
      readable -= bytes;
    },
  };
}
