/**
 * The caller's trace (`traceparent`), as far as it is trusted. Work for our own command line becomes part of that trace and follows its
 * sampling; work for another client with a token is only linked to it. The header of an anonymous caller is ignored: it could
 * link our spans to any trace, or switch them off.
 *
 * The name of the client is not authenticated. So a caller with a token is only linked if the trace belongs to items of tenants
 * that the token does not name.
 */
import type { Request } from 'express';
import type { TraceId } from '../../lib/ids.ts';
import type { SpanReference } from '../../model/span.ts';
import { parseTraceparent } from '../../tracing/parse-traceparent.ts';
import type { Caller } from './caller.ts';

/** `parent`: our work becomes part of the caller's trace and follows its sampling; `caller`: it is only linked. */
export interface CallerContext {
  readonly relation: 'parent' | 'caller';
  readonly span: SpanReference;
  /** The caller records its spans. */
  readonly sampled: boolean;
}

/** User agent of our command line, before `/` and its version. */
export const COMMAND_LINE_AGENT = 'gatehouse-cli';

/** @param isStrangers whether all items of a trace belong to tenants that the caller's token does not name. */
export async function callerContext(
  caller: Caller,
  request: Request,
  isStrangers: (trace: TraceId) => Promise<boolean>,
): Promise<CallerContext | undefined> {
  const isCommandLine = request.headers['user-agent']?.startsWith(`${COMMAND_LINE_AGENT}/`) === true;
  if (caller.kind === 'anonymous' || (caller.kind === 'here' && !isCommandLine)) return undefined;
  const { traceparent } = request.headers;
  const context = parseTraceparent(typeof traceparent === 'string' ? traceparent : undefined);
  if (context === undefined) return undefined;
  const isBelow = isCommandLine && (caller.kind === 'here' || !(await isStrangers(context.span.traceId)));
  return { relation: isBelow ? 'parent' : 'caller', ...context };
}
