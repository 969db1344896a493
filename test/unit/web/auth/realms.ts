/** Realms for tests, and tokens as any client could make them. */
import { createSecretKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type JWTPayload, SignJWT } from 'jose';
import { toMilliseconds } from '../../../../src/lib/clock.ts';
import { Secret } from '../../../../src/lib/secret.ts';
import type { AuthRealm } from '../../../../src/settings/auth-keys.ts';
import type { AuthSettings } from '../../../../src/settings/settings.ts';
import { NOW } from '../sample-gate.ts';

const SECRET = 'a secret that is long enough for it';
const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });

export const sharedKey = createSecretKey(Buffer.from(SECRET));
export const companyKey = pair.privateKey;
export const companyPublicKey = pair.publicKey;

export function sharedRealm(settings: Partial<AuthSettings> = {}): AuthRealm {
  return {
    key: { kind: 'key', key: sharedKey },
    settings: {
      name: 'operators',
      realm: 'gate.example.org',
      issuer: 'gatehouse',
      audience: 'gate.example.org',
      clientId: 'gate.example.org',
      authority: settings.issuer ?? 'gatehouse',
      key: { kind: 'HS256', secret: new Secret(SECRET) },
      userClaim: 'sub',
      maxValidity: undefined,
      skew: 0,
      mayGrant: true,
      isDefault: true,
      ...settings,
    },
  };
}

/** Another issuer makes its tokens; they may not name tenants. */
export function companyRealm(): AuthRealm {
  const file = { path: '/etc/login.pem', at: { file: 'gatehouse.conf', line: 9 } };
  const { settings } = sharedRealm({
    name: 'company',
    realm: 'company',
    issuer: 'https://login.example.org',
    key: { kind: 'RS256', file },
    mayGrant: false,
    isDefault: false,
  });
  return { settings, key: { kind: 'key', key: pair.publicKey } };
}

/** Seconds since the epoch, of the tests' clock. */
export const NOW_S = Math.floor(toMilliseconds(NOW) / 1000);

/** Valid for ten minutes in the shared realm, for tenant main, unless the claims say otherwise; undefined: without the claim. */
export function token(
  claims: { readonly [name: string]: unknown } = {},
  { key = sharedKey, alg = 'HS256' }: { readonly key?: KeyObject; readonly alg?: string } = {},
): Promise<string> {
  const payload: JWTPayload = {
    iss: 'gatehouse',
    aud: 'gate.example.org',
    sub: 'alice',
    iat: NOW_S,
    exp: NOW_S + 600,
    zuul: { admin: ['main'] },
    ...claims,
  };
  return new SignJWT(payload).setProtectedHeader({ alg }).sign(key);
}
