/**
 * How tracing is set up at this moment. `[tracing]` may be read again while the process runs (SIGHUP), so nobody keeps what
 * these functions return: ask again for every turn, every request, every delivery.
 */
import type { Uuid } from '../lib/ids.ts';
import type { KeepRules } from './keep.ts';
import type { SpanOptions } from './spans/span-options.ts';

export interface LiveTracing {
  /** Undefined: tracing is off; nothing is written for it. */
  spans(): SpanOptions | undefined;
  /** Decides once per event whether its traces, and those of the items it leads to, are kept. False while tracing is off. */
  isSampled(event: Uuid): boolean;
  policy(): TracePolicy;
}

/** Which traces there are, and where a long one is divided. */
export interface TracePolicy {
  /** Share of events kept, 0 to 1. */
  readonly ratio: number;
  readonly keep: KeepRules;
  /** Milliseconds of a job's run time beyond which its work is in a trace of its own; 0: never. */
  readonly splitAfterMs: number;
}

/** Everything is kept and nothing is divided. */
export const WHOLE_TRACES: TracePolicy = {
  ratio: 1,
  keep: { outcomes: [], slowerThanMs: null },
  splitAfterMs: 0,
};
