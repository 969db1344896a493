/**
 * What a request says of the trace it belongs to (`traceparent`), as far as it may be believed: what we do for our own command
 * line is linked to it and recorded when it is, what we do for another client with a token is only linked. Anybody else's is
 * not even read: an id from outside could otherwise link our spans to a stranger's, or switch them off.
 *
 * Which client it is anybody may say of themselves. So whoever has a token is no more than linked to when the trace they name
 * is that of an item of a tenant the token does not name.
 */
import type { Request } from 'express';
import type { TraceId } from '../../lib/ids.ts';
import type { SpanReference } from '../../model/event.ts';
import { parseTraceparent } from '../../tracing/parse-traceparent.ts';
import type { Caller } from './caller.ts';

export interface CallerContext {
  readonly relation: 'parent' | 'caller';
  readonly span: SpanReference;
  /** The caller records its spans. */
  readonly sampled: boolean;
}

/** What our command line calls itself, before `/` and its version. */
export const COMMAND_LINE_AGENT = 'gatehouse-cli';

/** @param isStrangers whether a trace tells of items of tenants alone that the caller's token does not name. */
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
