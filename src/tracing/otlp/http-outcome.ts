/**
 * What to do after an HTTP request to the collector: the OTLP specification's table.
 *
 * | answer | outcome |
 * |---|---|
 * | 2xx, also with a partial success | delivered (rejected spans are counted, not sent again) |
 * | 429, 502, 503, 504 | retry, not before Retry-After |
 * | 413 | split the request |
 * | 3xx | lost: the endpoint is wrong, and a secret header must not follow a redirect |
 * | everything else | lost: a retry would not help |
 */
import { collectorText } from './collector-text.ts';
import type { ExportOutcome } from './export-outcome.ts';
import { refusalIn } from './partial-success.ts';
import { retryAfterMs } from './retry-after.ts';
import { utf8, wireFields } from './wire.ts';

/** The parts of an answer that decide its outcome; absent headers are undefined. */
export interface HttpAnswer {
  readonly status: number;
  /** Time of the answer by the server's clock, which Retry-After refers to. */
  readonly date: string | undefined;
  readonly retryAfter: string | undefined;
  readonly location: string | undefined;
  /** May be truncated. */
  readonly body: Uint8Array;
}

const TRANSIENT: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const LOCKED: ReadonlySet<number> = new Set([401, 403]);

/** Never throws: the body of an error that is no protobuf is quoted as text. */
export function outcomeOfAnswer(answer: HttpAnswer): ExportOutcome {
  const { status } = answer;
  if (status >= 200 && status < 300) return { kind: 'delivered', refused: refusalIn(answer.body) };
  const text = [`HTTP ${status}`, explanationIn(answer.body)].filter(part => part !== '').join(': ');
  if (TRANSIENT.has(status))
    return { kind: 'again', afterMs: retryAfterMs(answer.retryAfter, answer.date), text };
  if (status === 413) return { kind: 'too-large', text };
  if (status >= 300 && status < 400) {
    const wrong = `HTTP ${status} to ${collectorText(answer.location ?? 'nowhere')}: not followed; the endpoint is wrong`;
    return { kind: 'lost', reason: 'refused', text: wrong };
  }
  return { kind: 'lost', reason: LOCKED.has(status) ? 'unauthenticated' : 'refused', text };
}

/** The message of a `google.rpc.Status`; the start of the body when it is text, e.g. from a proxy. */
function explanationIn(body: Uint8Array): string {
  return collectorText(statusMessageIn(body) ?? utf8(body));
}

function statusMessageIn(body: Uint8Array): string | undefined {
  try {
    for (const { number, bytes } of wireFields(body))
      if (number === 2 && bytes !== undefined) return utf8(bytes);
    return undefined;
  } catch (error) {
    // Not protobuf: then it is text.
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
}
