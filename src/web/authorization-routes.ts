/** `/authorizations` and `/tenant/<t>/authorizations`, as Zuul's: what the bearer of a token may do. They need a token, on the port. */
import type { Request, RequestHandler, Router } from 'express';
import type { AuthorizationsDocument } from '../api/service.ts';
import { type Answer, jsonAnswer, notFound, send } from './answer.ts';
import { type Authentication, type Caller, callerOf } from './auth/caller.ts';
import { refuseAnonymous } from './auth/operator.ts';
import { mayOperate, mayOperateAll } from './auth/permission.ts';

/** The whole installation's; the caller registers it. */
export function authorizationsRoute(auth: Authentication): RequestHandler {
  return about(auth, async caller => {
    const admin = caller.kind === 'here' || mayOperateAll(auth.rules, caller.user);
    return jsonAnswer(authorizations(admin, '*'));
  });
}

/** @param router of a tenant. */
export function addTenantAuthorizationsRoute(router: Router, auth: Authentication): void {
  router.get(
    '/authorizations',
    about(auth, async (caller, request) => {
      const tenant = String(request.params.tenant);
      if (auth.rules.ofTenant(tenant) === undefined)
        return notFound(`there is no tenant ${JSON.stringify(tenant.slice(0, 64))}`, 'path: tenant');
      const admin = caller.kind === 'here' || mayOperate(auth.rules, caller.user, tenant);
      return jsonAnswer(authorizations(admin, tenant));
    }),
  );
}

function authorizations(admin: boolean, scope: string): AuthorizationsDocument {
  return { zuul: { admin, permissions: admin ? { admin } : {}, scope: [scope] } };
}

type Known = Exclude<Caller, { readonly kind: 'anonymous' }>;

function about(
  auth: Authentication,
  route: (caller: Known, request: Request) => Promise<Answer>,
): RequestHandler {
  return async (request, response) => {
    const caller = await callerOf(auth, request);
    if (caller.kind === 'refused') return send(response, caller);
    if (caller.kind === 'anonymous') return send(response, refuseAnonymous(auth, 'ask what you may do'));
    // Of one caller.
    response.setHeader('Cache-Control', 'private, no-store');
    send(response, await route(caller, request));
  };
}
