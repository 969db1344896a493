/** `EventProcess` → `HostQuery`: what the driver asked of its code host for one event, and the attempts that failed before. */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { SpanRecord } from '../../model/span.ts';
import type { Step } from '../../model/step.ts';
import { eventAttributes } from '../attribute-values.ts';
import { type EventTrace, stationOf } from './event-context.ts';
import { planSteps } from './step-spans.ts';

/** Why an attempt came to nothing: a word, never the host's. */
export type FailureReason = 'host-unreachable' | 'not-understood';

export interface Processing {
  /** When the first attempt began. */
  readonly startedAt: Nanoseconds;
  readonly endedAt: Nanoseconds;
  /** How often it was tried. */
  readonly tries: number;
  /** Attempts that came to nothing: the first and the latest of them. */
  readonly failures: readonly { readonly at: Nanoseconds; readonly reason: FailureReason }[];
  /** Of the attempt that counts. */
  readonly queries: readonly Step[];
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

/** @param given the event was laid aside after the last failure. */
export function eventProcessSpans(
  trace: EventTrace,
  { startedAt, endedAt, tries, failures, queries }: Processing,
  given: boolean,
): readonly SpanRecord[] {
  const { span, place } = stationOf(trace, 'EventProcess', startedAt, endedAt, {
    own: { tries },
    events: failures.map(({ at, reason }) => ({
      at,
      name: 'attempt-failed',
      attributes: eventAttributes({ reason }),
    })),
    result: given ? 'ERROR' : undefined,
  });
  const below = planSteps(trace, { key: 'query', parent: place, own: {} }, queries);
  return [span, ...below.map(plan => plan.make())];
}
