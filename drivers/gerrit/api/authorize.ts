/**
 * Headers that prove who we are at Gerrit. Of digest authentication the server's nonce is used again, counted, until the server
 * refuses it; the first request of all is refused, and asked again.
 */
import { randomBytes } from 'node:crypto';
import { assertNever } from '../../../src/lib/assert-never.ts';
import { Secret } from '../../../src/lib/secret.ts';
import type { HttpAuth } from '../options.ts';
import { type DigestChallenge, digestHeader, readDigestChallenge } from './digest.ts';

/** For one connection. */
export interface Authorization {
  /** @param uri path with query, as in the request line. */
  headers(method: string, uri: string): { readonly [name: string]: string };
  /**
   * A request got 401. @param challenge its `WWW-Authenticate`. @param asked headers that it was sent with.
   * @returns true: it may be asked again, with other headers. False: the account is not accepted.
   */
  challenged(challenge: string | undefined, asked: { readonly [name: string]: string }): boolean;
  /** Texts that must not be shown. */
  readonly secrets: readonly Secret[];
}

export function createAuthorization(auth: HttpAuth): Authorization {
  switch (auth.kind) {
    case 'basic': {
      const pair = Buffer.from(`${auth.user}:${auth.password.reveal()}`).toString('base64');
      return fixed({ authorization: `Basic ${pair}` }, auth.password, new Secret(pair));
    }
    case 'bearer':
      return fixed({ authorization: `Bearer ${auth.token.reveal()}` }, auth.token);
    case 'cookie':
      return fixed({ cookie: auth.cookie.reveal() }, auth.cookie);
    case 'none':
      return { headers: () => ({}), challenged: () => false, secrets: [] };
    case 'digest':
      return digestAuthorization(auth.user, auth.password);
    default:
      return assertNever(auth);
  }
}

function fixed(headers: { readonly [name: string]: string }, ...secrets: readonly Secret[]): Authorization {
  return { headers: () => headers, challenged: () => false, secrets };
}

function digestAuthorization(user: string, password: Secret): Authorization {
  let current: DigestChallenge | null = null;
  let count = 0;
  return {
    secrets: [password],
    headers(method, uri) {
      if (current === null) return {};
      count += 1;
      const cnonce = randomBytes(16).toString('hex');
      const use = { user, password: password.reveal(), method, uri, count, cnonce };
      return { authorization: digestHeader(current, use) };
    },
    challenged(challenge, asked) {
      const next = readDigestChallenge(challenge ?? '');
      if (next === null) return false;
      const sent = asked.authorization;
      const isOvertaken = current !== null && !(sent ?? '').includes(`nonce="${current.nonce}"`);
      // Another request was challenged meanwhile: its nonce serves this one as well.
      if (isOvertaken) return true;
      current = next;
      count = 0;
      // Proven with a nonce that was good enough: then it is the account that is refused.
      return sent === undefined || next.isStale;
    },
  };
}
