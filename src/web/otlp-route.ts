/**
 * `POST /api/otlp/v1/traces`: spans of our command line, and of other services whose token we know, on their way to where ours go.
 * OTLP over HTTP, as protobuf or JSON, plain or gzip; the URL an exporter is given is `<root>/api/otlp`.
 *
 *     200 taken, what was not is told as partial success    401, 403 who    413, 415, 400 what    503 not durable: send it again
 *
 * Where tracing is off they are taken and dropped: whoever sends them need not know. What is taken is durable when it is answered.
 */
import type { Request, RequestHandler } from 'express';
import type { TraceId } from '../lib/ids.ts';
import { type ReadBody, readBody } from '../lib/read-body.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { readTraceRequest } from '../tracing/otlp-in/read-trace-request.ts';
import { REQUEST_LIMITS } from '../tracing/otlp-in/request-limits.ts';
import {
  type OtlpEncoding,
  refusalAnswer,
  type TraceAnswer,
  traceAnswer,
} from '../tracing/otlp-in/trace-answer.ts';
import { acceptSpans } from './accept-spans.ts';
import { type Refusal, send } from './answer.ts';
import { type Caller, callerOf } from './auth/caller.ts';
import { refuseAnonymous } from './auth/operator.ts';
import type { SpanIntake, WebDeps } from './deps.ts';
import { SPANS_PER_MINUTE, type SpanQuota, spanQuota } from './span-quota.ts';
import { findItem, liveItemWith } from './tenant-access.ts';

type OtlpDeps = Pick<
  WebDeps,
  'auth' | 'clock' | 'log' | 'spanIntake' | 'spansOf' | 'tenants' | 'snapshot' | 'history'
>;

type Known = Exclude<Caller, { readonly kind: 'anonymous' }>;

export function otlpRoute(deps: OtlpDeps): RequestHandler {
  const quota = spanQuota(deps.clock);
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

async function knownCaller({ auth }: OtlpDeps, request: Request): Promise<Known | Refusal> {
  const caller = await callerOf(auth, request);
  return caller.kind === 'anonymous' ? refuseAnonymous(auth, 'hand over spans', caller.because) : caller;
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
  const granted = quota.take(nameOf(caller), read.spans.length);
  const accepted = await acceptSpans(read.spans.slice(0, granted), rulesFor(deps, intake, caller));
  if (accepted.spans.length > 0) await intake.store(accepted.spans);
  const over = read.spans.length - granted;
  const rejected = read.rejected + accepted.rejected + over;
  const quotaReason = over > 0 ? `more than ${SPANS_PER_MINUTE} spans in a minute` : undefined;
  const reason = read.reason ?? accepted.reason ?? quotaReason;
  if (rejected > 0) deps.log.info({ by: nameOf(caller), rejected, reason }, 'spans of others were rejected');
  return { status: 200, answer: traceAnswer(read.encoding, { rejected, reason }) };
}

const NOTHING_REJECTED = { rejected: 0, reason: undefined };

function refused(encoding: OtlpEncoding, status: number, reason: string): Answered {
  return { status, answer: refusalAnswer(encoding, reason) };
}

function nameOf(caller: Known): string {
  return caller.kind === 'here' ? 'this machine' : `${caller.user.name} (${caller.user.realm})`;
}

function rulesFor(deps: OtlpDeps, intake: SpanIntake, caller: Known): Parameters<typeof acceptSpans>[1] {
  return {
    caller,
    ownService: intake.ownService,
    itemOf: trace => itemOfTrace(deps, trace),
    spansOf: deps.spansOf,
    isSampled: intake.isSampled,
  };
}

/**
 * Of whatever tenant: the trace id is the uuid of an item, or of a live build that has a trace of its own. An item on its way into
 * the history is not looked for: that would read all that waits there, for every command anybody calls.
 */
async function itemOfTrace(deps: OtlpDeps, trace: TraceId): Promise<QueueItem | undefined> {
  for (const name of deps.tenants()) {
    const snapshot = deps.snapshot(name);
    if (snapshot === undefined) continue;
    const { history } = deps;
    const found = await findItem({ history }, { kind: 'found', name, snapshot }, trace);
    const item = found.kind === 'item' ? found.item : liveItemWith(snapshot, trace);
    if (item !== undefined) return item;
  }
  return undefined;
}
