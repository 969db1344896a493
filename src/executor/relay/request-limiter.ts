/**
 * Limits the requests of one build's job before a single span is parsed. A job may open many connections and send many requests
 * on each before it reads an answer; all of that uses memory and time of the executor, which others need too.
 */
import type { Socket } from 'node:net';
import { createLimiter } from '../../tracing/otlp/limiter.ts';
import { REQUEST_LIMITS } from '../../tracing/otlp-in/request-limits.ts';
import type { BuildIntake } from './build-relay.ts';
import type { RelayLimits } from './relay-quota.ts';

/** All requests of one build pass it. */
export interface RequestLimiter {
  readonly intake: BuildIntake;
  /**
   * Runs `work` when it is its turn.
   *
   * @returns the reason when the request is refused; `work` was not run then.
   */
  enter(socket: Socket, work: () => Promise<void>): Promise<void> | Refusal;
  /** Records how many bytes were read for the build, unpacked: beyond the limit nothing more is read. */
  charge(bytes: number): void;
}

type Refusal =
  /** More requests wait than allowed: later there is room. */
  | 'crowded'
  /** The connection sends request after request without waiting for answers. */
  | 'flooded'
  /** The limit of bytes read for this build is reached. */
  | 'spent';

/** Bodies of one build that are in memory at a time: the others wait in their sockets. */
const BODIES_AT_ONCE = 4;
/** Open requests of one build: one for each connection a sandbox may have. */
const MOST_OPEN = 128;
/** Open requests of one connection: exporters wait for an answer before they send the next. */
const MOST_PIPELINED = 4;
/** Limit of the bytes read per build, in quotas: requests may be repeated, rejected, or mostly hold other data. */
const READ_PER_QUOTA = 4;

/** @param limits decide how much is read: a few times the bytes the build may hand in. */
export function requestLimiter(intake: BuildIntake, limits: Pick<RelayLimits, 'bytes'>): RequestLimiter {
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
