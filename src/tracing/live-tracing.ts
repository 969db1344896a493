/**
 * How tracing is set up at this moment. `[tracing]` may be read again while the process runs (SIGHUP), so nobody keeps what
 * these functions return: ask again for every turn, every request, every delivery.
 */
import type { Uuid } from '../lib/ids.ts';
import type { SpanOptions } from './spans/span-options.ts';

export interface LiveTracing {
  /** Undefined: tracing is off; nothing is written for it. */
  spans(): SpanOptions | undefined;
  /** Decides once per event whether its traces, and those of the items it leads to, are kept. False while tracing is off. */
  isSampled(event: Uuid): boolean;
}
