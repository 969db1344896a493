/** Keys that are read from their issuer, in order and in trouble. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AuthRealm } from '../../../../src/settings/auth-keys.ts';
import { type TokenVerifier, tokenVerifier } from '../../../../src/web/auth/token.ts';
import { startTokenIssuer, type TokenIssuer } from '../../../fake/token-issuer.ts';
import { fakeWeb } from '../fake-web.ts';
import { NOW } from '../sample-gate.ts';
import { NOW_S, sharedRealm } from './realms.ts';

const MINUTE = 60_000;

let issuer: TokenIssuer;
let monotonic: number;
let troubles: string[];
let verifier: TokenVerifier;

function realmOf(kind: 'OpenIDConnect' | 'RS256withJWKS' = 'OpenIDConnect', keysUrl?: string): AuthRealm {
  const { settings } = sharedRealm();
  return {
    key: { kind: 'of-issuer', keysUrl },
    settings: {
      ...settings,
      issuer: issuer.url,
      audience: 'gate',
      key:
        kind === 'OpenIDConnect'
          ? { kind, keysUrl, scope: 'openid', loadUserInfo: true }
          : { kind, keysUrl: keysUrl ?? '' },
      mayGrant: false,
    },
  };
}

function verifierOf(realm: AuthRealm): TokenVerifier {
  const clock = { now: () => NOW, monotonic: () => monotonic };
  return tokenVerifier([realm], clock, (_, reason) => void troubles.push(reason));
}

beforeEach(async () => {
  // jose keeps key sets by the machine's clock; only that one is moved.
  vi.useFakeTimers({ toFake: ['Date'] });
  issuer = await startTokenIssuer(() => NOW_S);
  monotonic = 0;
  troubles = [];
  verifier = verifierOf(realmOf());
});
afterEach(async () => {
  await issuer[Symbol.asyncDispose]();
  vi.useRealTimers();
});

function later(milliseconds: number): void {
  monotonic += milliseconds;
  vi.setSystemTime(Date.now() + milliseconds);
}

const kindOf = async (token: Promise<string>) => (await verifier.verify(await token)).kind;

describe('keys of an issuer', () => {
  test('are found by its discovery document, once for many tokens', async () => {
    const token = await issuer.token();
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => verifier.verify(token)));
    expect(new Set(verdicts.map(({ kind }) => kind))).toEqual(new Set(['user']));
    expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/keys']);
  });

  test('are read from keys_url where that is given', async () => {
    for (const kind of ['OpenIDConnect', 'RS256withJWKS'] as const) {
      verifier = verifierOf(realmOf(kind, `${issuer.url}/keys`));
      expect(await kindOf(issuer.token())).toBe('user');
    }
    expect(issuer.asked).toEqual(['/keys', '/keys']);
  });

  test('are not asked for before a token of the realm comes, nor for one that cannot count', async () => {
    expect(await kindOf(issuer.token({ iss: 'https://elsewhere.example.org' }))).toBe('invalid');
    expect(issuer.asked).toEqual([]);
  });

  test('that are new are found by their id, and a token with an unknown one has them read once in 30 s', async () => {
    await kindOf(issuer.token());
    await issuer.rotate();
    later(MINUTE);
    expect(await kindOf(issuer.token())).toBe('user');
    expect(issuer.asked.filter(path => path === '/keys')).toHaveLength(2);
    for (let index = 0; index < 10; index += 1)
      expect(await verifier.verify(await issuer.token({}, { kid: `made-up-${index}` }))).toEqual({
        kind: 'invalid',
        reason: 'the issuer of realm gate.example.org has no single key that the token names ("kid")',
      });
    expect(issuer.asked.filter(path => path === '/keys')).toHaveLength(2);
  });

  test('that were taken away count for ten minutes at most', async () => {
    const token = issuer.token();
    expect(await kindOf(token)).toBe('user');
    await issuer.rotate(true);
    expect(await kindOf(token)).toBe('user');
    later(11 * MINUTE);
    expect(await kindOf(token)).toBe('invalid');
  });

  test('sign with key pairs only: a public key is no shared secret', async () => {
    expect(await kindOf(issuer.token({}, {}))).toBe('user');
    const [head, body, signature] = (await issuer.token()).split('.');
    const forged = Buffer.from(JSON.stringify({ alg: 'HS256', kid: 'key-1' })).toString('base64url');
    expect(head).not.toBe(forged);
    expect(await verifier.verify(`${forged}.${body}.${signature}`)).toMatchObject({ kind: 'invalid' });
  });
});

describe('an issuer that', () => {
  test.each<[what: string, answer: NonNullable<TokenIssuer['answer']>, reason: RegExp]>([
    ['fails', (_, response) => void response.writeHead(500).end(), /configuration answered 500$/],
    [
      'redirects',
      (_, response) => void response.writeHead(302, { location: 'https://evil.example.org/' }).end(),
      /answered 302, a redirect to https:\/\/evil\.example\.org\/, which is not followed/,
    ],
    ['breaks off', request => void request.socket.destroy(), /cannot be reached \(/],
    [
      'answers with a page',
      (_, response) => void response.end('<html>'),
      /did not answer with a JSON object/,
    ],
    [
      'answers without end',
      (_, response) => {
        const more = () => void (response.destroyed || response.write(' '.repeat(65_536), more));
        more();
      },
      /answered more than 262144 bytes/,
    ],
    [
      'is another one',
      (_, response) =>
        void response.end('{"issuer":"https://evil.example.org","jwks_uri":"https://evil.example.org"}'),
      /is about another issuer than issuer_id/,
    ],
    [
      'does not say where its keys are',
      (_, response) => void response.end(JSON.stringify({ issuer: issuer.url })),
      /does not say where the keys are/,
    ],
    [
      'has its keys where others can change them',
      (_, response) =>
        void response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: 'http://evil.example.org/' })),
      /names keys at http:\/\/evil\.example\.org\/, which is not https/,
    ],
    [
      'serves no keys',
      (request, response) =>
        void response.end(
          JSON.stringify(
            request.url === '/keys' ? { keys: [1] } : { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` },
          ),
        ),
      /did not answer with a set of keys/,
    ],
  ])(
    '%s leaves tokens unchecked, is asked again after 30 s, and is reported once',
    async (_, answer, reason) => {
      issuer.answer = answer;
      const token = await issuer.token();
      for (let index = 0; index < 5; index += 1)
        expect(await verifier.verify(token)).toEqual({
          kind: 'unavailable',
          reason: expect.stringMatching(reason),
        });
      const asked = issuer.asked.length;
      expect(asked).toBeLessThanOrEqual(2);
      expect(troubles).toEqual([expect.stringMatching(reason)]);
      issuer.answer = undefined;
      later(31_000);
      expect(await kindOf(issuer.token())).toBe('user');
    },
  );

  test('hangs is waited for five seconds, by all tokens together', { timeout: 20_000 }, async () => {
    issuer.answer = () => {};
    const token = await issuer.token();
    const begun = performance.now();
    const verdicts = await Promise.all(Array.from({ length: 10 }, () => verifier.verify(token)));
    expect(performance.now() - begun).toBeLessThan(15_000);
    expect(verdicts.every(({ kind }) => kind === 'unavailable')).toBe(true);
    expect(issuer.asked).toHaveLength(1);
    expect(await kindOf(issuer.token())).toBe('unavailable');
    expect(issuer.asked).toHaveLength(1);
  });

  test('goes away does not lock its users out for an hour', async () => {
    expect(await kindOf(issuer.token())).toBe('user');
    issuer.answer = (_, response) => void response.writeHead(503).end();
    later(30 * MINUTE);
    expect(await kindOf(issuer.token())).toBe('user');
    later(31 * MINUTE);
    expect(await kindOf(issuer.token())).toBe('unavailable');
    expect(troubles.length).toBeGreaterThan(0);
  });
});

test('a request whose token cannot be checked is answered with 503, not as if the token were wrong', async () => {
  issuer.answer = (_, response) => void response.writeHead(500).end();
  const web = await fakeWeb({ realms: [realmOf()] });
  try {
    const answer = await fetch(`${web.url}/api/authorizations`, {
      headers: { authorization: `Bearer ${await issuer.token()}` },
    });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('30');
    expect(await answer.json()).toMatchObject({
      error: expect.stringContaining('the keys of realm gate.example.org cannot be read'),
    });
    expect((await fetch(`${web.url}/api/tenant/main/status`)).status).toBe(200);
  } finally {
    await web.close();
  }
});
