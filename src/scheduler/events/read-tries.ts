/**
 * The attempts of one read of the host and why they failed: kept in memory between attempts, for the trace, the log and the pauses.
 * The next holder of the connection starts at zero.
 */
import { hostSteps } from '../../driver/host-steps.ts';
import { assertNever } from '../../lib/assert-never.ts';
import type { Nanoseconds } from '../../lib/clock.ts';
import type { HostTroubleReason } from '../../model/host-trouble.ts';
import type { Step } from '../../model/step.ts';
import {
  type HostPause,
  type Processing,
  withFailure,
  withHostPause,
} from '../../tracing/spans/event-process-spans.ts';

type ReadFailure =
  | {
      readonly kind: 'later';
      readonly reason: HostTroubleReason;
      readonly text: string;
      /** Not tried again before. */
      readonly retryAt: Nanoseconds;
      /** What the driver recorded of the attempt. */
      readonly steps: readonly Step[];
    }
  | { readonly kind: 'not-understood'; readonly error: unknown };

/** Immutable; a lane holds it between two attempts. */
export interface ReadTries extends Pick<Processing, 'startedAt' | 'failures' | 'waits' | 'queries'> {
  /** Attempts, including the present one. */
  readonly tries: number;
  /** Attempts at which the host served and the driver failed. */
  readonly misunderstood: number;
  /** Of the last attempt; undefined: this is the first. */
  readonly failure?: ReadFailure;
}

/** The next attempt begins. @param before undefined: it is the first. */
export function nextTry(before: ReadTries | undefined, now: Nanoseconds): ReadTries {
  if (before === undefined)
    return { startedAt: now, tries: 1, failures: [], waits: [], queries: [], misunderstood: 0 };
  const waits = before.failure?.kind === 'later' ? until(before.waits, now) : before.waits;
  return { ...before, tries: before.tries + 1, waits };
}

/** The present attempt failed. */
export function failedTry(tries: ReadTries, failure: ReadFailure, at: Nanoseconds): ReadTries {
  switch (failure.kind) {
    case 'later': {
      const failures = withFailure(tries.failures, { at, reason: 'host-unreachable' });
      const waits = withHostPause(tries.waits, failure.reason, at);
      return { ...tries, failure, failures, waits, queries: hostSteps([...tries.queries, ...failure.steps]) };
    }
    case 'not-understood': {
      const failures = withFailure(tries.failures, { at, reason: 'not-understood' });
      return { ...tries, failure, failures, misunderstood: tries.misunderstood + 1 };
    }
    default:
      return assertNever(failure, 'failure of a read');
  }
}

function until(waits: readonly HostPause[], endedAt: Nanoseconds): readonly HostPause[] {
  const last = waits.at(-1);
  return last === undefined ? waits : [...waits.slice(0, -1), { ...last, endedAt }];
}
