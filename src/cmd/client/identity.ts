/** Identity headers of every request of the command line. */
import { Secret } from '../../lib/secret.ts';
import { COMMAND_LINE_AGENT } from '../../web/auth/caller-context.ts';
import { VERSION } from '../version.ts';

/** Whose authority a request has. */
export interface ClientIdentity {
  /** Undefined: none; then only the socket of this machine's service allows changes. */
  readonly token: Secret | undefined;
}

/** @returns the user agent and, with a token, `authorization`, which holds the secret in clear: do not log it. */
export function identityHeaders({ token }: ClientIdentity): { readonly [name: string]: string } {
  return {
    'user-agent': `${COMMAND_LINE_AGENT}/${VERSION}`,
    ...(token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` }),
  };
}

/** A token as people paste it, with or without `Bearer`. Undefined: not a token. */
export function parseToken(text: string): Secret | undefined {
  const [, token] = /^(?:Bearer +)?([\w.~+/=-]+)$/i.exec(text.trim()) ?? [];
  return token === undefined ? undefined : new Secret(token);
}
