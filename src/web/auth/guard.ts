/**
 * Keeps private tenants, and the routes of the installation where `api-root` has rules, to those who may read them: before any route of
 * theirs, so that a route cannot forget it. A refusal is the same for a private tenant and for one that does not exist.
 */
import type { Request, RequestHandler, Response } from 'express';
import { type HttpRefusal, send } from '../answer.ts';
import { type Authentication, callerOf } from './caller.ts';
import { challenge } from './challenge.ts';
import { hasPrivateTenants, isHidden, mayRead, mayReadRoot } from './permission.ts';

/** For `/tenant/:tenant`. A token is looked at only where it matters, so that a wrong one harms no reader of an open tenant. */
export function guardTenant(auth: Authentication): RequestHandler<{ readonly tenant: string }> {
  return async (request, response, next) => {
    const { tenant } = request.params;
    if (!isHidden(auth.rules, tenant)) return next();
    markAsPrivate(response);
    const caller = await callerOf(auth, request);
    if (caller.kind === 'refused') return send(response, caller);
    if (mayRead(auth.rules, caller, tenant)) {
      if (caller.kind === 'user') response.locals.expiresAt = caller.user.expiresAt;
      return next();
    }
    const what = `read tenant ${JSON.stringify(tenant.slice(0, 64))}, or there is no such tenant`;
    send(response, refusal(auth, caller.kind === 'anonymous', what));
  };
}

/** When the token that opened a private tenant expires, in seconds since the epoch. Undefined: no token was needed. */
export function expiryOf(response: Response): number | undefined {
  const { expiresAt }: { expiresAt?: unknown } = response.locals;
  return typeof expiresAt === 'number' ? expiresAt : undefined;
}

/** For all routes below `/api` but a tenant's, and the one that says where to sign in. */
export function guardRoot(auth: Authentication): RequestHandler {
  return async (request, response, next) => {
    const isOther = request.path === '/info' || request.path.startsWith('/tenant/');
    if (isOther || auth.rules.ofRoot().accessRules.length === 0) return next();
    const refused = await rootRefusal(auth, request, response);
    if (refused === undefined) return next();
    send(response, refused);
  };
}

/** For what names every tenant: metrics. A caller who may read the installation and each private tenant gets them. */
export function guardNamesOfTenants(auth: Authentication): RequestHandler {
  return async (request, response, next) => {
    const { rules } = auth;
    if (rules.ofRoot().accessRules.length === 0 && !hasPrivateTenants(rules)) return next();
    const refused = await rootRefusal(auth, request, response, caller =>
      rules.tenants().every(tenant => mayRead(rules, caller, tenant)),
    );
    if (refused === undefined) return next();
    send(response, refused);
  };
}

type KnownCaller = Exclude<Awaited<ReturnType<typeof callerOf>>, HttpRefusal>;

async function rootRefusal(
  auth: Authentication,
  request: Request,
  response: Response,
  isFurtherAllowed: (caller: KnownCaller) => boolean = () => true,
): Promise<HttpRefusal | undefined> {
  markAsPrivate(response);
  const caller = await callerOf(auth, request);
  if (caller.kind === 'refused') return caller;
  if (mayReadRoot(auth.rules, caller) && isFurtherAllowed(caller)) return undefined;
  return refusal(auth, caller.kind === 'anonymous', 'read this');
}

function refusal(auth: Authentication, isAnonymous: boolean, what: string): HttpRefusal {
  return isAnonymous
    ? challenge(auth.realms, 'none', `a token is needed to ${what}: send "Authorization: Bearer" and a token`)
    : challenge(auth.realms, 'insufficient_scope', `this token does not let you ${what}`);
}

/** `send` then lets no cache keep the answer. */
function markAsPrivate(response: Response): void {
  response.locals.isPrivate = true;
  response.setHeader('Vary', 'Authorization');
  response.setHeader('Cache-Control', 'private, no-store');
}
