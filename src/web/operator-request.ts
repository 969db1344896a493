/**
 * What the requests of operators about a tenant's items have in common. They are allowed for the command line of this machine and for
 * users who may operate the tenant: auth/operator.ts. Each has a trace of its own (`ManagementEvent`), linked to the trace of a
 * trusted caller: auth/caller-context.ts.
 */
import type { Request } from 'express';
import type { TenantSnapshot } from '../api/tenant-snapshot.ts';
import type { Nanoseconds } from '../lib/clock.ts';
import { readBody } from '../lib/read-body.ts';
import type { Json } from '../model/job.ts';
import { badRequest, type HttpRefusal, notFound } from './answer.ts';
import type { Authentication } from './auth/caller.ts';
import { type CallerContext, callerContext } from './auth/caller-context.ts';
import { type Operator, operatorOf } from './auth/operator.ts';
import type { WebDeps } from './deps.ts';
import { itemsOfTrace, mayActFor, type TraceDeps } from './items-of-trace.ts';

/** What a route of this kind needs. */
export type OperatorDeps = TraceDeps & Pick<WebDeps, 'log' | 'clock'> & { readonly auth: Authentication };

/** A request whose sender may make it. */
interface Asked {
  readonly kind: 'asked';
  readonly receivedAt: Nanoseconds;
  readonly tenant: string;
  readonly snapshot: TenantSnapshot;
  readonly operator: Operator;
  /** Undefined: it is not JSON. */
  readonly body: Json | undefined;
}

/** @param deed what is asked, for refusals: `dequeue`. */
export async function readOperatorRequest(
  deps: OperatorDeps,
  request: Request,
  deed: string,
): Promise<Asked | HttpRefusal> {
  const receivedAt = deps.clock.now();
  const tenant = String(request.params.tenant);
  const operator = await operatorOf(deps.auth, request, deed, [tenant]);
  if (operator.kind === 'refused') return operator;
  // A form of another site can send no DELETE.
  if (request.method !== 'DELETE' && request.is('application/json') === false)
    return { kind: 'refused', status: 415, error: 'send application/json', place: 'header content-type' };
  const body = await readBody(request, 64 * 1024);
  if (body.kind !== 'read') return badRequest('the body is not readable or larger than 64 KiB', 'body');
  const snapshot = deps.snapshot(tenant);
  if (snapshot === undefined) return notFound(`there is no tenant ${JSON.stringify(tenant)}`, 'path: tenant');
  return { kind: 'asked', receivedAt, tenant, snapshot, operator, body: parsed(body.bytes) };
}

/** The caller's trace, if the caller is trusted. */
export function contextOf(
  deps: OperatorDeps,
  request: Request,
  { caller }: Operator,
): Promise<CallerContext | undefined> {
  return callerContext(
    caller,
    request,
    async trace => !mayActFor(deps.auth, caller, await itemsOfTrace(deps, trace)),
  );
}

function parsed(bytes: Buffer): Json | undefined {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    // Not JSON: the refusal names the expected body.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
