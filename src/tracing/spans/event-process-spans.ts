/**
 * `EventProcess` → `HostQuery`, `HostWait`: what the driver asked of its code host for one event, the attempts that failed before, and
 * the time in which the host did not serve.
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { HostTroubleReason } from '../../model/host-trouble.ts';
import type { SpanRecord } from '../../model/span.ts';
import type { Step } from '../../model/step.ts';
import { eventAttributes } from '../attribute-values.ts';
import { type EventTrace, stationOf } from './event-context.ts';
import { planSteps } from './step-spans.ts';

/** Why an attempt came to nothing: a word, never the host's. */
type FailureReason = 'host-unreachable' | 'not-understood';

export interface Processing {
  /** When the first attempt began. */
  readonly startedAt: Nanoseconds;
  readonly endedAt: Nanoseconds;
  /** How often it was tried. */
  readonly tries: number;
  /** Attempts that came to nothing: the first and the latest of them. */
  readonly failures: readonly { readonly at: Nanoseconds; readonly reason: FailureReason }[];
  /** Times in which the host did not serve, one after the other. */
  readonly waits: readonly HostPause[];
  /** Of the attempt that counts. */
  readonly queries: readonly Step[];
}

export interface HostPause {
  readonly reason: HostTroubleReason;
  /** Of the first attempt that failed for this reason. */
  readonly startedAt: Nanoseconds;
  /** The attempt after the last that failed for it began. */
  readonly endedAt: Nanoseconds;
  /** Attempts that failed for it. */
  readonly tries: number;
}

/** Failed attempts that are remembered; a host that is away for a day makes thousands. */
const MOST_FAILURES = 32;

/** `failures` and one more. */
export function withFailure(
  failures: Processing['failures'],
  failure: Processing['failures'][number],
): Processing['failures'] {
  const [first] = failures;
  if (first === undefined || failures.length < MOST_FAILURES) return [...failures, failure];
  return [first, ...failures.slice(2), failure];
}

/** `waits` and one more attempt that failed for the host, the same wait going on as long as its reason is the same. */
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

/** @param given the event was laid aside after the last failure. */
export function eventProcessSpans(
  trace: EventTrace,
  { startedAt, endedAt, tries, failures, waits, queries }: Processing,
  given: boolean,
): readonly SpanRecord[] {
  const { span, place } = stationOf(trace, 'EventProcess', startedAt, endedAt, {
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
