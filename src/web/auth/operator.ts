/** Who may change something: the command line of this machine, and users whose token names every tenant it concerns. */
import type { Request } from 'express';
import type { TenantName } from '../../model/project.ts';
import type { HttpRefusal } from '../answer.ts';
import { type Authentication, type Caller, callerOf } from './caller.ts';
import { challenge } from './challenge.ts';

export interface Operator {
  readonly kind: 'operator';
  readonly caller: Exclude<Caller, { readonly kind: 'anonymous' }>;
  /** For the log: `alice (gate.example.org)`, or `command line`. */
  readonly name: string;
}

/**
 * @param deed what they want to do, e.g. `dequeue`.
 * @param tenants those it concerns. What concerns the whole installation concerns all of them; as long as none is known,
 *   only the command line of this machine may do it.
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
      const missing = tenants.find(tenant => !user.tenants.includes(tenant));
      if (missing === undefined && tenants.length > 0)
        return { kind: 'operator', caller, name: `${user.name} (${user.realm})` };
      const lacks =
        missing === undefined ? 'no tenant is known here yet' : `it does not name tenant ${missing}`;
      return challenge(auth.realms, 'insufficient_scope', `this token does not let you ${deed}: ${lacks}`);
    }
  }
}

/** 401 wherever it came from: which address sent it says nothing. */
export function refuseAnonymous({ realms }: Authentication, deed: string): HttpRefusal {
  const how =
    realms.length > 0
      ? 'send "Authorization: Bearer" and a token'
      : 'this service accepts none, as it has no [auth NAME] section';
  const reason = `a token is needed to ${deed}: ${how}; or use the gatehouse command on the machine of the service`;
  return challenge(realms, 'none', reason);
}
