import { type LiveTracing, WHOLE_TRACES } from '../../src/tracing/live-tracing.ts';

/** Off, for what is tested without it. */
export const NO_TRACING: LiveTracing = {
  spans: () => undefined,
  isSampled: () => false,
  policy: () => WHOLE_TRACES,
};
