/**
 * The spans of one build in the relay: accepted or rejected immediately, kept in memory within its quota, placed when the build has
 * ended.
 *
 *     const taken = relay.take(await readTraceRequest(...));      // {rejected: 2, reason: 'a trace that is not this build's'}
 *     ...
 *     const spans = relay.finish(execution, cancelledAt);         // ride with the build's result
 *
 * Nothing leaves earlier. The parents of the job's spans (its playbooks) are only exported with the result; if the executor were
 * killed before, spans already sent would never get a parent. Like the executor's own steps, they are detail that dies with it.
 */
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import { type SpanId, spanIdOf } from '../../lib/ids.ts';
import { isBefore } from '../../lib/time-window.ts';
import type { Execution } from '../../model/build.ts';
import type { BuildRequest, BuildTrace } from '../../model/build-request.ts';
import type { SpanRecord } from '../../model/span.ts';
import type { WeighedSpan } from '../../tracing/otlp-in/checked-span.ts';
import type { ReadSpans } from '../../tracing/otlp-in/read-trace-request.ts';
import { jsonBytes } from '../../tracing/otlp-in/received-span.ts';
import type { Rejection } from '../../tracing/otlp-in/trace-answer.ts';
import { ownTraceOf } from '../../tracing/span-ids.ts';
import { jobSpanMarks, placeJobSpans, type ReportedSpan } from '../../tracing/spans/job-spans.ts';
import type { RejectionReason, RelayCounts, RelayLimits } from './relay-quota.ts';

/** One build in the relay, from its start to its end. */
export interface BuildIntake {
  /** A span that was taken before counts as taken: exporters send again when an answer is lost. */
  take(read: ReadSpans & { readonly kind: 'spans' }): Rejection;
  /** Ends intake. @returns the spans to export, each below a span of the build. */
  finish(execution: Execution, cancelledAt: Nanoseconds | null): readonly SpanRecord[];
  counts(): Omit<RelayCounts, 'unheard'>;
}

/** How much a span may grow when it is placed, besides its marks: another parent, moved times. */
const PLACE_BYTES = 120;

const WORDS: { readonly [reason in RejectionReason]: string } = {
  malformed: 'a span that makes no sense',
  'not-below-the-build':
    "a span that is not below this build's: TRACEPARENT says which trace and parent it should have",
  'before-the-build': 'a span that ended before the build began',
  'over-quota':
    'the build has handed in all the spans it may ([executor] otlp_relay_max_spans, otlp_relay_max_bytes)',
  'no-playbook': 'a span reported while no playbook of its trace ran',
};

/** @param trace of `request`. Spans that ended before this call are rejected. */
export function buildIntake(
  request: BuildRequest,
  trace: BuildTrace,
  limits: RelayLimits,
  clock: Pick<Clock, 'now'>,
): BuildIntake {
  const beganAt = clock.now();
  const traces = new Set([trace.traceId, ownTraceOf(request.uuid)]);
  const ours = new Set([spanIdOf(request.item), spanIdOf(request.buildset), trace.buildSpan]);
  const growth = jsonBytes(jobSpanMarks({ request, trace })) + PLACE_BYTES;
  const taken = new Map<SpanId, ReportedSpan>();
  const rejected = new Map<RejectionReason, number>();
  let bytes = 0;
  let finished = false;

  function reject(reason: RejectionReason, spans: number): void {
    if (spans > 0) rejected.set(reason, (rejected.get(reason) ?? 0) + spans);
  }

  /** @returns the reason to reject it, if any. */
  function objection({ span, bytes: size }: WeighedSpan): RejectionReason | undefined {
    if (!traces.has(span.traceId) || span.parent === null || ours.has(span.spanId))
      return 'not-below-the-build';
    if (span.end === null || isBefore(span.end, beganAt)) return 'before-the-build';
    const full = finished || taken.size >= limits.spans || bytes + size + growth > limits.bytes;
    return full ? 'over-quota' : undefined;
  }

  return {
    take(read) {
      const at = clock.now();
      reject('malformed', read.rejected);
      let { rejected: count, reason } = read;
      for (const weighed of read.spans) {
        const { span } = weighed;
        // Repeated because our answer was lost.
        if (taken.has(span.spanId)) continue;
        const why = objection(weighed);
        if (why === undefined) {
          taken.set(span.spanId, { span, at });
          bytes += weighed.bytes + growth;
        } else {
          reject(why, 1);
          count += 1;
          reason ??= WORDS[why];
        }
      }
      return { rejected: count, reason };
    },
    finish(execution, cancelledAt) {
      finished = true;
      if (taken.size === 0) return [];
      const placed = placeJobSpans({ request, trace, execution, cancelledAt }, [...taken.values()]);
      reject('no-playbook', placed.rejected);
      return placed.spans;
    },
    counts: () => ({ taken: taken.size, bytes, rejected: new Map(rejected) }),
  };
}
