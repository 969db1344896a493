/**
 * Who sends a request.
 *
 *     anonymous    anybody: may read, and nothing they say of themselves counts
 *     here         this machine, by the rules of only-this-machine.ts
 *     user         the bearer of a token, from wherever
 *
 * Who sends a token is judged by the token alone, also from this machine: it says in whose name they act.
 */
import type { Request } from 'express';
import type { AuthRealm } from '../../settings/auth-keys.ts';
import type { Refusal } from '../answer.ts';
import { strangerIn } from '../only-this-machine.ts';
import { challenge } from './challenge.ts';
import type { TokenVerifier, User } from './token.ts';

export type Caller =
  /** @property because why it is not this machine, for people. */
  | { readonly kind: 'anonymous'; readonly because: string }
  | { readonly kind: 'here' }
  | { readonly kind: 'user'; readonly user: User };

export interface Authentication {
  readonly realms: readonly AuthRealm[];
  readonly tokens: TokenVerifier;
}

/** @returns a refusal when a token was sent and does not count. */
export async function callerOf(auth: Authentication, request: Request): Promise<Caller | Refusal> {
  const { authorization } = request.headers;
  if (authorization === undefined) {
    const because = strangerIn(request);
    return because === undefined ? { kind: 'here' } : { kind: 'anonymous', because };
  }
  const [, token] = /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization) ?? [];
  if (token === undefined)
    return challenge(auth.realms, 'invalid_request', 'send "Authorization: Bearer", a blank, and a token');
  if (auth.realms.length === 0)
    return challenge(auth.realms, 'invalid_token', 'no token counts here: there is no [auth NAME] section');
  const verdict = await auth.tokens.verify(token);
  return verdict.kind === 'user' ? verdict : challenge(auth.realms, 'invalid_token', verdict.reason);
}
