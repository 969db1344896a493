/**
 * The current configuration of tracing. `[tracing]` may be reloaded while the process runs (SIGHUP), so do not keep what these
 * functions return: call them for every turn, request and delivery.
 */
import type { Uuid } from '../lib/ids.ts';
import type { KeepRules } from './keep.ts';
import type { SpanOptions } from './spans/span-options.ts';

export interface LiveTracing {
  /** Undefined: tracing is off; no spans are stored. */
  spans(): SpanOptions | undefined;
  /** Decides once per event whether its traces, and those of the items it leads to, are exported. False while tracing is off. */
  isSampled(event: Uuid): boolean;
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
