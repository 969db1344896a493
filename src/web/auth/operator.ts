/** Who may change something: this machine, and users whose token names every tenant it concerns. */
import type { Request } from 'express';
import type { TenantName } from '../../model/project.ts';
import type { Refusal } from '../answer.ts';
import { type Authentication, type Caller, callerOf } from './caller.ts';
import { challenge } from './challenge.ts';

export interface Operator {
  readonly kind: 'operator';
  readonly caller: Exclude<Caller, { readonly kind: 'anonymous' }>;
  /** For the log: `alice (gate.example.org)`, or `this machine`. */
  readonly name: string;
}

/**
 * @param deed what they want to do, e.g. `dequeue`.
 * @param tenants those it concerns. What concerns the whole installation concerns all of them; as long as none is known,
 *   only this machine may do it.
 */
export async function operatorOf(
  auth: Authentication,
  request: Request,
  deed: string,
  tenants: readonly TenantName[],
): Promise<Operator | Refusal> {
  const caller = await callerOf(auth, request);
  switch (caller.kind) {
    case 'refused':
      return caller;
    case 'here':
      return { kind: 'operator', caller, name: 'this machine' };
    case 'anonymous':
      return refuseAnonymous(auth, deed, caller.because);
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

/** @param because why it is not this machine. */
export function refuseAnonymous({ realms }: Authentication, deed: string, because: string): Refusal {
  if (realms.length > 0)
    return challenge(realms, 'none', `only this machine may ${deed} without a token: ${because}`);
  return {
    kind: 'refused',
    status: 403,
    error: `only this machine may ${deed}: ${because}`,
    place: 'request',
    headers: { Connection: 'close' },
  };
}
