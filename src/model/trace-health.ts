/** How whole the traces are that are sent, judged before they are sent (`src/tracing/otlp/trace-judge.ts`). */

/** Of a time. */
export interface TraceCounts {
  /** Traces that ended and were judged. */
  readonly judged: number;
  /** Traces that ended and had begun before the judge did, or were too large: of these nothing is known. */
  readonly unjudged: number;
  /** Spans whose parent was not sent with their trace. */
  readonly orphans: number;
  /** Spans that begin before their parent, or end after it. */
  readonly outside: number;
  /** Items with more than a millisecond in no named state. */
  readonly untiled: number;
  /** The time of that, in nanoseconds. */
  readonly untiledNs: number;
  /** Links to spans that were not sent. */
  readonly dangling: number;
}

/** Counts of one hour, by when traces ended. */
export interface TraceHour extends TraceCounts {
  /** Begin, milliseconds since the epoch. */
  readonly hour: number;
}

/** The faults that {@link TraceCounts} counts, with what they are for people. */
export const TRACE_FAULTS = {
  orphans: 'spans without their parent',
  outside: 'spans outside their parent',
  untiled: 'items with time in no state',
  dangling: 'links to nothing',
} as const;
/** One of {@link TRACE_FAULTS}. */
export type TraceFault = keyof typeof TRACE_FAULTS;
