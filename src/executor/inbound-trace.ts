/**
 * The trace context this executor was started with, passed on to jobs while tracing is off. While tracing is on, a job gets the
 * context of its own span instead.
 */
const NAMES = ['TRACEPARENT', 'TRACESTATE', 'BAGGAGE'] as const;

/** @param environment of the executor's process. */
export function inboundTrace(environment: { readonly [name: string]: string | undefined }): {
  readonly [name: string]: string;
} {
  const found: Record<string, string> = {};
  // An empty variable counts as unset.
  for (const name of NAMES) if (environment[name]) found[name] = environment[name];
  return found;
}
