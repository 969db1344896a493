/** Posts one message. Answers are looked at by their status alone, but for the first line of a refusal. */

import type { Clock, Nanoseconds } from '../../src/lib/clock.ts';
import { addMilliseconds } from '../../src/lib/clock.ts';
import { strangersLine } from '../../src/lib/cut-text.ts';
import type { Secret } from '../../src/lib/secret.ts';
import type { HostTroubleReason } from '../../src/model/host-trouble.ts';
import type { PostedMessage } from './message.ts';

/** What came of it; `text` is one line without the address, which is a secret. */
type Posted =
  | { readonly kind: 'taken' }
  /** Nothing was taken: tried again. */
  | {
      readonly kind: 'away';
      readonly reason: HostTroubleReason;
      readonly text: string;
      readonly notBefore?: Nanoseconds;
    }
  /** It may have been taken. */
  | { readonly kind: 'unconfirmed'; readonly text: string }
  /** The receiver refuses this message for good. */
  | { readonly kind: 'refused'; readonly text: string };

/** @throws what `signal` was aborted with. */
export type Post = (message: PostedMessage, signal: AbortSignal) => Promise<Posted>;

/** Bytes of a refusal that are read, and characters of it that are shown. */
const READ = 4_096;
const SHOWN = 200;
/** A receiver may put its next message off for an hour at most. */
const LONGEST_WAIT_MS = 3_600_000;

/** The request did not leave: nothing was taken. */
const NOT_SENT: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
  ...['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN'],
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'ERR_TLS_CERT_ALTNAME_INVALID'],
]);

/** @param timeoutMs for the whole exchange. */
export function poster(url: Secret, clock: Pick<Clock, 'now'>, timeoutMs: number): Post {
  const { hostname } = new URL(url.reveal());
  return async ({ headers, body }, signal) => {
    const ending = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const response = await fetch(url.reveal(), {
        ...{ method: 'POST', body, redirect: 'manual', signal: ending },
        headers: { ...headers, 'user-agent': 'gatehouse' },
      });
      return await postedOf(response, hostname, clock.now());
    } catch (error) {
      signal.throwIfAborted();
      if (ending.aborted)
        return { kind: 'unconfirmed', text: `${hostname} did not answer within ${timeoutMs / 1000} s` };
      const code = codeOf(error);
      const text = `${hostname}: ${code ?? 'the connection broke'}`;
      return code !== undefined && NOT_SENT.has(code)
        ? { kind: 'away', reason: 'unreachable', text }
        : { kind: 'unconfirmed', text };
    }
  };
}

async function postedOf(response: Response, hostname: string, now: Nanoseconds): Promise<Posted> {
  const { status } = response;
  if (status >= 200 && status < 300) {
    await response.body?.cancel();
    return { kind: 'taken' };
  }
  const said = status >= 400 ? await beginningOf(response) : '';
  if (status < 400) await response.body?.cancel();
  const text = `${hostname} answered ${status}${said === '' ? '' : `: ${said}`}`;
  const reason = reasonOf(status);
  if (reason === undefined) return { kind: 'refused', text };
  const seconds = Number(response.headers.get('retry-after') ?? 'none');
  const wait = Math.min(seconds * 1000, LONGEST_WAIT_MS);
  return { kind: 'away', reason, text, ...(wait > 0 ? { notBefore: addMilliseconds(now, wait) } : {}) };
}

/** Undefined: the message itself is refused. A redirect, or an address that does not exist, is a mistake in the settings. */
function reasonOf(status: number): HostTroubleReason | undefined {
  if (status === 429) return 'limited';
  if (status === 401 || status === 403) return 'denied';
  if (status < 400 || status === 404 || status === 410) return 'bad-url';
  if (status === 408 || status === 425 || status >= 500) return 'unreachable';
  return undefined;
}

async function beginningOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= READ) break;
  }
  return strangersLine(Buffer.concat(chunks).subarray(0, READ).toString('utf8'), SHOWN);
}

function codeOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  const { code } =
    typeof cause === 'object' && cause !== null && 'code' in cause ? cause : { code: undefined };
  return typeof code === 'string' ? code : undefined;
}
