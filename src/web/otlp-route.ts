/**
 * `POST /api/otlp/v1/traces`: forwards spans of our command line, and of services with a token, to our collector.
 * OTLP over HTTP, as protobuf or JSON, plain or gzip; configure an exporter with `<root>/api/otlp`.
 *
 *     200 accepted; rejected spans are a partial success    401, 403 caller    413, 415, 400 body    503 not durable: send it again
 *
 * While tracing is off, spans are accepted and dropped. Accepted spans are durable before the answer.
 */
import type { Request, RequestHandler } from 'express';
import { type ReadBody, readBody } from '../lib/read-body.ts';
import type { SpanRecord } from '../model/span.ts';
import { readTraceRequest } from '../tracing/otlp-in/read-trace-request.ts';
import { REQUEST_LIMITS } from '../tracing/otlp-in/request-limits.ts';
import {
  type OtlpEncoding,
  refusalAnswer,
  type TraceAnswer,
  traceAnswer,
} from '../tracing/otlp-in/trace-answer.ts';
import { acceptSpans } from './accept-spans.ts';
import { type HttpRefusal, send } from './answer.ts';
import { type Authentication, type Caller, callerOf } from './auth/caller.ts';
import { challenge } from './auth/challenge.ts';
import { refuseAnonymous } from './auth/operator.ts';
import { mayOperate } from './auth/permission.ts';
import type { User } from './auth/token.ts';
import type { SpanIntake, WebDeps } from './deps.ts';
import { itemsOfTraces, type TraceDeps } from './items-of-trace.ts';
import type { SpanQuota } from './span-quota.ts';

type OtlpDeps = TraceDeps &
  Pick<WebDeps, 'log' | 'spanIntake' | 'spansOf'> & {
    readonly auth: Authentication;
    readonly quota: SpanQuota;
  };

type Known = Exclude<Caller, { readonly kind: 'anonymous' }>;

/** Reads no body before the caller is known. @param deps the quota is shared by both listeners. */
export function otlpRoute(deps: OtlpDeps): RequestHandler {
  const { quota } = deps;
  return async (request, response) => {
    const caller = await knownCaller(deps, request);
    if (caller.kind === 'refused') return send(response, caller);
    const body = await readBody(request, REQUEST_LIMITS.bodyBytes);
    if (body.kind === 'broken-off') return;
    const { status, answer } = await takeIn(deps, quota, caller, request, body);
    response.status(status).setHeader('Content-Type', answer.contentType);
    if (body.kind === 'too-large') response.setHeader('Connection', 'close');
    response.end(answer.body);
  };
}

async function knownCaller({ auth }: OtlpDeps, request: Request): Promise<Known | HttpRefusal> {
  const caller = await callerOf(auth, request);
  if (caller.kind === 'anonymous') return refuseAnonymous(auth, 'send spans');
  if (caller.kind !== 'user' || maySendSpans(auth, caller.user)) return caller;
  const reason = 'this token does not let you send spans: it names no tenant, and no admin-rules fit';
  return challenge(auth.realms, 'insufficient_scope', reason);
}

function maySendSpans({ rules }: Authentication, user: User): boolean {
  return user.tenants.length > 0 || rules.tenants().some(tenant => mayOperate(rules, user, tenant));
}

interface Answered {
  readonly status: number;
  readonly answer: TraceAnswer;
}

async function takeIn(
  deps: OtlpDeps,
  quota: SpanQuota,
  caller: Known,
  { headers }: Request,
  body: Exclude<ReadBody, { readonly kind: 'broken-off' }>,
): Promise<Answered> {
  if (body.kind === 'too-large')
    return refused('protobuf', 413, `more than ${REQUEST_LIMITS.bodyBytes} bytes`);
  const read = await readTraceRequest({
    body: body.bytes,
    contentType: headers['content-type'],
    contentEncoding: headers['content-encoding'],
  });
  if (read.kind === 'refused') return refused(read.encoding, read.status, read.reason);
  const intake = deps.spanIntake();
  if (intake === undefined) return { status: 200, answer: traceAnswer(read.encoding, NOTHING_REJECTED) };
  const spans = read.spans.map(({ span }) => span);
  const accepted = await acceptSpans(spans, rulesFor(deps, intake, caller, spans));
  const granted = quota.take(nameOf(caller), accepted.spans.map(storedBytes));
  if (granted > 0) await intake.store(accepted.spans.slice(0, granted));
  const over = accepted.spans.length - granted;
  const rejected = read.rejected + accepted.rejected + over;
  const reason = read.reason ?? accepted.reason ?? (over > 0 ? TOO_MUCH : undefined);
  if (rejected > 0)
    deps.log.info({ by: nameOf(caller), rejected, reason }, 'spans of another program were rejected');
  return { status: 200, answer: traceAnswer(read.encoding, { rejected, reason }) };
}

const NOTHING_REJECTED = { rejected: 0, reason: undefined };
const TOO_MUCH = 'more bytes of spans than are accepted in a minute';

/** Before it is packed: how well that goes is the sender's choice. */
function storedBytes(span: SpanRecord): number {
  return Buffer.byteLength(JSON.stringify(span));
}

function refused(encoding: OtlpEncoding, status: number, reason: string): Answered {
  return { status, answer: refusalAnswer(encoding, reason) };
}

function nameOf(caller: Known): string {
  return caller.kind === 'here' ? 'command line' : `${caller.user.name} (${caller.user.realm})`;
}

function rulesFor(
  deps: OtlpDeps,
  intake: SpanIntake,
  caller: Known,
  spans: readonly SpanRecord[],
): Parameters<typeof acceptSpans>[1] {
  return {
    caller,
    auth: deps.auth,
    ownServices: intake.ownServices,
    itemsOf: itemsOfTraces(
      deps,
      spans.map(({ traceId }) => traceId),
    ),
    spansOf: deps.spansOf,
    isSampled: intake.isSampled,
  };
}
