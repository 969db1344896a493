/** `[tracing]` as a file with these two lines has it. */
import { readTracing, type TracingOn } from '../../src/settings/tracing-settings.ts';

export function tracingTo(endpoint: string, protocol: TracingOn['protocol']): TracingOn {
  const at = { file: 'gatehouse.conf', line: 1 };
  const options = new Map([
    ['endpoint', { value: endpoint, at }],
    ['protocol', { value: protocol, at }],
  ]);
  const { tracing } = readTracing({ name: 'tracing', at, options }, {});
  if (tracing.kind === 'off') throw new Error(tracing.why);
  return tracing;
}
