/**
 * `EventProcess` → `HostQuery`, `HostWait`: the driver's queries to its code host for one event, the attempts that failed before, and
 * the time in which the host did not answer.
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { HostTroubleReason } from '../../model/host-trouble.ts';
import type { SpanRecord } from '../../model/span.ts';
import type { Step } from '../../model/step.ts';
import { eventAttributes } from '../attribute-values.ts';
import { type EventTrace, eventStage } from './event-context.ts';
import { planSteps } from './step-spans.ts';

/** Why an attempt failed: a code, never the host's text. */
type FailureReason = 'host-unreachable' | 'not-understood';

/** What the scheduler that holds the connection records while it handles one event, over all attempts it made itself. */
export interface Processing {
  /** When the first attempt began. */
  readonly startedAt: Nanoseconds;
  readonly endedAt: Nanoseconds;
  /** Number of attempts. */
  readonly tries: number;
  /** Failed attempts: the first ones and the latest. */
  readonly failures: readonly { readonly at: Nanoseconds; readonly reason: FailureReason }[];
  /** Times of host trouble, in order. */
  readonly waits: readonly HostPause[];
  /** Of the last attempt; before them what the driver recorded of those for which the host did not serve. */
  readonly queries: readonly Step[];
}

/** A time in which the host did not serve, of one reason; the next reason begins another. */
export interface HostPause {
  readonly reason: HostTroubleReason;
  /** Time of the first attempt that failed for this reason. */
  readonly startedAt: Nanoseconds;
  /** Begin of the attempt after the last that failed for it. */
  readonly endedAt: Nanoseconds;
  /** Number of attempts that failed for it. */
  readonly tries: number;
}

/** Maximum number of failed attempts kept: a host that is down for a day causes thousands. */
const MOST_FAILURES = 32;

/** `failures` with one more. */
export function withFailure(
  failures: Processing['failures'],
  failure: Processing['failures'][number],
): Processing['failures'] {
  const [first] = failures;
  if (first === undefined || failures.length < MOST_FAILURES) return [...failures, failure];
  return [first, ...failures.slice(2), failure];
}

/** `waits` with one more attempt that failed because of the host; the last wait goes on while the reason is the same. */
export function withHostPause(
  waits: Processing['waits'],
  reason: HostTroubleReason,
  at: Nanoseconds,
): Processing['waits'] {
  const [first] = waits;
  const last = waits.at(-1);
  if (last?.reason === reason)
    return [...waits.slice(0, -1), { ...last, tries: last.tries + 1, endedAt: at }];
  const next = { reason, startedAt: at, endedAt: at, tries: 1 };
  if (first === undefined || waits.length < MOST_FAILURES) return [...waits, next];
  return [first, ...waits.slice(2), next];
}

/** @param given the event was quarantined after the last failure. */
export function eventProcessSpans(
  trace: EventTrace,
  { startedAt, endedAt, tries, failures, waits, queries }: Processing,
  given: boolean,
): readonly SpanRecord[] {
  const { span, place } = eventStage(trace, 'EventProcess', startedAt, endedAt, {
    own: { attemptCount: tries },
    events: failures.map(({ at, reason }) => ({
      at,
      name: 'attempt-failed',
      attributes: eventAttributes({ reason }),
    })),
    result: given ? 'ERROR' : undefined,
  });
  const below = planSteps(trace, { key: 'query', parent: place, own: {} }, [
    ...waits.map(waitStep),
    ...queries,
  ]);
  return [span, ...below.map(plan => plan.make())];
}

function waitStep({ reason, startedAt, endedAt, tries }: HostPause): Step {
  return { kind: 'HostWait', subject: reason, startedAt, endedAt, facts: { reason, tries } };
}
