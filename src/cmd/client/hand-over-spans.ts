/** Hands a command's spans to the service it asked, which passes them to its collector, or drops them where it has none. */
import type { SpanRecord } from '../../model/span.ts';
import { COMMAND_LINE_AGENT } from '../../web/auth/caller-context.ts';
import { otlpJson } from '../../web/otlp-json.ts';
import { VERSION } from '../version.ts';
import { askDoor, type Door } from './door.ts';
import { type ClientIdentity, identityHeaders } from './identity.ts';

/** Milliseconds it may take: a command is over when its answer is. */
const LIMIT = 500;

/** @returns what went wrong, for who wants to know; undefined: they were taken. */
export async function handOverSpans(
  door: Door,
  identity: ClientIdentity,
  spans: readonly SpanRecord[],
): Promise<string | undefined> {
  try {
    const response = await askDoor(door, '/api/otlp/v1/traces', {
      method: 'POST',
      headers: { ...identityHeaders(identity), 'content-type': 'application/json' },
      body: JSON.stringify(otlpJson(spans, VERSION, COMMAND_LINE_AGENT)),
      signal: AbortSignal.timeout(LIMIT),
      redirect: 'error',
    });
    const text = await response.text();
    return response.ok ? undefined : `the service answered ${response.status} ${text.slice(0, 500)}`;
  } catch (error) {
    // Nobody waits for these spans: without a network, or with an older service, the command has done what it should.
    return error instanceof Error ? error.message : String(error);
  }
}
