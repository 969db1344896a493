/** Sends a command's spans to the service it asked, which forwards them to its collector, or drops them if it has none. */
import type { SpanRecord } from '../../model/span.ts';
import { COMMAND_LINE_AGENT } from '../../web/auth/caller-context.ts';
import { otlpJson } from '../../web/otlp-json.ts';
import { VERSION } from '../version.ts';
import { type Endpoint, fetchFrom } from './endpoint.ts';
import { type ClientIdentity, identityHeaders } from './identity.ts';

/** Milliseconds this may delay the end of a command. */
const LIMIT = 500;

/** @returns the error, for `--verbose`; undefined: the spans were accepted. */
export async function handOverSpans(
  endpoint: Endpoint,
  identity: ClientIdentity,
  spans: readonly SpanRecord[],
): Promise<string | undefined> {
  try {
    const response = await fetchFrom(endpoint, '/api/otlp/v1/traces', {
      method: 'POST',
      headers: { ...identityHeaders(identity), 'content-type': 'application/json' },
      body: JSON.stringify(otlpJson(spans, VERSION, COMMAND_LINE_AGENT)),
      signal: AbortSignal.timeout(LIMIT),
      redirect: 'error',
    });
    const text = await response.text();
    return response.ok ? undefined : `the service answered ${response.status} ${text.slice(0, 500)}`;
  } catch (error) {
    // Best effort: without a network, or with an older service, the command itself has still succeeded.
    return error instanceof Error ? error.message : String(error);
  }
}
