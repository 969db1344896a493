/**
 * The trace this executor itself was started in, for jobs while tracing is off: we add nothing then, and take nothing away.
 * While it is on, a job is told its own span instead, and nothing of the executor's.
 */
const NAMES = ['TRACEPARENT', 'TRACESTATE', 'BAGGAGE'] as const;

/** @param environment of the executor's process. */
export function inboundTrace(environment: { readonly [name: string]: string | undefined }): {
  readonly [name: string]: string;
} {
  const found: Record<string, string> = {};
  // An empty one counts as unset.
  for (const name of NAMES) if (environment[name]) found[name] = environment[name];
  return found;
}
