/**
 * The current configuration of tracing. `[tracing]` may be reloaded while the process runs (SIGHUP), so do not keep what these
 * functions return: call them for every turn, request and delivery.
 *
 * A map of the room, the only one that knows OpenTelemetry:
 *
 *     spans/      stored records → spans, pure; begin with item-spans.ts
 *     otlp/       rows of the outbox → the collector; begin with sender.ts
 *     otlp-in/    spans of jobs and other services; begin with read-trace-request.ts
 *
 *     attributes, allowed-attributes, attribute-values     names, the allow-list by kind of span, values
 *     conventions, zuul-names, zuul-attributes,            names of OpenTelemetry, of Zuul and of earlier releases; the reserved
 *       former-names, own-names                            namespace
 *     span-ids, status, wire-kind, repository-url          other fields of a span
 *     span-maker, resource                                 its resource
 *     sampling, keep, held-spans                           which items are exported
 *     carrier, parse-traceparent                           trace context for jobs and from clients
 *     step-recorder, log-facts, trace-links, ui-url        used by workers, logs and pages
 *
 * No file of the room reads the store, and none affects a decision: the gate does the same with tracing off.
 */
import type { Uuid } from '../lib/ids.ts';
import type { KeepRules } from './keep.ts';
import type { SpanOptions } from './spans/span-options.ts';

/** One per process, made by `src/cmd/service/live-tracing.ts`. Each call answers by the settings of that moment. */
export interface LiveTracing {
  /** Undefined: tracing is off; no spans are stored. */
  spans(): SpanOptions | undefined;
  /** Decides once per event whether its traces, and those of the items it leads to, are exported. False while tracing is off. */
  isSampled(event: Uuid): boolean;
  /** {@link WHOLE_TRACES} while tracing is off. */
  policy(): TracePolicy;
}

/** Which traces are exported, and when a long one is split. */
export interface TracePolicy {
  /** Share of events kept, 0 to 1. */
  readonly ratio: number;
  readonly keep: KeepRules;
  /** Milliseconds of a job's run time beyond which its work is in a trace of its own; 0: never. */
  readonly splitAfterMs: number;
}

/** Everything is exported and nothing is split. */
export const WHOLE_TRACES: TracePolicy = {
  ratio: 1,
  keep: { outcomes: [], slowerThanMs: null },
  splitAfterMs: 0,
};
