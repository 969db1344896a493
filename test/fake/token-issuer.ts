/** An issuer of tokens on this machine that serves its keys, or does not: it hangs, fails, redirects, or serves anything else. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

interface IssuerKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

export interface TokenIssuer extends AsyncDisposable {
  readonly url: string;
  /** Paths asked for, in order. */
  readonly asked: string[];
  /** Answers in place of the issuer's own; undefined: its own. */
  answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** A new key pair; the old one's public key is served on unless `drop`. */
  rotate(drop?: boolean): Promise<void>;
  /** Signed with the newest key. */
  token(
    claims?: { readonly [claim: string]: unknown },
    header?: { readonly [name: string]: unknown },
  ): Promise<string>;
}

export async function startTokenIssuer(nowSeconds: () => number): Promise<TokenIssuer> {
  let keys: readonly IssuerKey[] = [];
  let made = 0;
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (issuer.answer !== undefined) return issuer.answer(request, response);
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify(
        request.url === '/keys'
          ? { keys: keys.map(({ jwk }) => jwk) }
          : { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` },
      ),
    );
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const issuer: TokenIssuer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answer: undefined,
    async rotate(drop = false) {
      const { publicKey, privateKey } = await generateKeyPair('RS256');
      const kid = `key-${++made}`;
      const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' };
      keys = [{ kid, privateKey, jwk }, ...(drop ? [] : keys)];
    },
    async token(claims = {}, header = {}) {
      const [newest] = keys;
      if (newest === undefined) throw new Error('the issuer has no key');
      const now = nowSeconds();
      return new SignJWT({ iss: issuer.url, aud: 'gate', sub: 'alice', iat: now, exp: now + 600, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: newest.kid, ...header })
        .sign(newest.privateKey);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
  await issuer.rotate();
  return issuer;
}
