/**
 * What a request says of the trace it belongs to (`traceparent`), as far as it may be believed: the context of our own command
 * line becomes the parent of what we do for it, that of another client with a token is linked to. Anybody else's is not
 * even read: an id from outside could otherwise hang our spans below a stranger's, or switch them off.
 */
import type { Request } from 'express';
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

export function callerContext(caller: Caller, request: Request): CallerContext | undefined {
  const isCommandLine = request.headers['user-agent']?.startsWith(`${COMMAND_LINE_AGENT}/`) === true;
  if (caller.kind === 'anonymous' || (caller.kind === 'here' && !isCommandLine)) return undefined;
  const { traceparent } = request.headers;
  const context = parseTraceparent(typeof traceparent === 'string' ? traceparent : undefined);
  return context === undefined ? undefined : { relation: isCommandLine ? 'parent' : 'caller', ...context };
}
