/** Authorization of changes: for the command line of this machine, and for users who may operate every tenant concerned. */
import type { Request } from 'express';
import type { TenantName } from '../../model/project.ts';
import type { HttpRefusal } from '../answer.ts';
import { type Authentication, type Caller, callerOf } from './caller.ts';
import { challenge } from './challenge.ts';
import { mayOperate } from './permission.ts';

/** A caller who is allowed to make the change; only {@link operatorOf} makes one. */
export interface Operator {
  readonly kind: 'operator';
  readonly caller: Exclude<Caller, { readonly kind: 'anonymous' }>;
  /** For the log: `alice (gate.example.org)`, or `command line`. */
  readonly name: string;
}

/**
 * @param deed the requested change, e.g. `dequeue`.
 * @param tenants all tenants concerned; for the whole installation, all there are. While none is known, only the command line of
 *   this machine is allowed.
 */
export async function operatorOf(
  auth: Authentication,
  request: Request,
  deed: string,
  tenants: readonly TenantName[],
): Promise<Operator | HttpRefusal> {
  const caller = await callerOf(auth, request);
  switch (caller.kind) {
    case 'refused':
      return caller;
    case 'here':
      return { kind: 'operator', caller, name: 'command line' };
    case 'anonymous':
      return refuseAnonymous(auth, deed);
    case 'user': {
      const { user } = caller;
      const missing = tenants.find(tenant => !mayOperate(auth.rules, user, tenant));
      if (missing === undefined && tenants.length > 0)
        return { kind: 'operator', caller, name: `${user.name} (${user.realm})` };
      const lacks =
        missing === undefined
          ? 'no tenant is known here yet'
          : `it does not name tenant ${missing}, and none of its admin-rules fits`;
      return challenge(auth.realms, 'insufficient_scope', `this token does not let you ${deed}: ${lacks}`);
    }
  }
}

/** 401, regardless of the sender's address. */
export function refuseAnonymous({ realms }: Authentication, deed: string): HttpRefusal {
  const how =
    realms.length > 0
      ? 'send "Authorization: Bearer" and a token'
      : 'this service accepts none, because it has no [auth NAME] section';
  const reason = `a token is needed to ${deed}: ${how}; or use the gatehouse command on the machine of the service`;
  return challenge(realms, 'none', reason);
}
