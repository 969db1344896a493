/**
 * Bearer tokens: identify a user, vouched for by a realm of `[auth NAME]`, and the tenants the user may operate.
 *
 *     {"iss": "gatehouse", "aud": "gate.example.org", "sub": "alice", "exp": 1795000600, "zuul": {"admin": ["acme"]}}
 *
 * The token's `iss` only selects the realm. Algorithm, key, issuer and audience are the realm's, so that a token can neither
 * choose its algorithm nor be valid for another service; `exp` is required. The platform compares signatures in constant time.
 * Reasons contain no part of a token.
 */
import type { KeyObject } from 'node:crypto';
import { decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose';
import { type Clock, toMilliseconds } from '../../lib/clock.ts';
import type { TenantName } from '../../model/project.ts';
import type { AuthRealm } from '../../settings/auth-keys.ts';
import type { AuthSettings } from '../../settings/settings.ts';
import { type IssuerKeys, issuerKeys } from './issuer-keys.ts';
import { IssuerTrouble } from './issuer-trouble.ts';

/** An authenticated user. */
export interface User {
  readonly name: string;
  readonly realm: string;
  /** Tenants the user may operate, from the token. */
  readonly tenants: readonly TenantName[];
  /** Of the token, for the rules of the tenant file. */
  readonly claims: { readonly [claim: string]: unknown };
  /** Seconds since the epoch after which the token is nothing any more, skew included. */
  readonly expiresAt: number;
}

type TokenVerdict =
  | { readonly kind: 'user'; readonly user: User }
  /** @property reason without any part of the token. */
  | { readonly kind: 'invalid'; readonly reason: string }
  /** The issuer's keys cannot be read now: nothing is known of the token. @property reason for people. */
  | { readonly kind: 'unavailable'; readonly reason: string };

/** Never rejects for a bad token. Keys are those of the settings, or of the issuer: issuer-keys.ts. */
export interface TokenVerifier {
  /** @param token without `Bearer`. */
  verify(token: string): Promise<TokenVerdict>;
}

/** Signatures that a key of an issuer's set may make: of key pairs only, so that no published key is taken for a shared secret. */
const BY_KEY_PAIRS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
];

/** What signatures each driver takes. */
const ALGORITHMS: { readonly [driver in AuthSettings['key']['kind']]: readonly string[] } = {
  HS256: ['HS256'],
  RS256: ['RS256'],
  RS256withJWKS: ['RS256'],
  OpenIDConnect: BY_KEY_PAIRS,
};

interface KnownRealm {
  readonly settings: AuthSettings;
  readonly key: KeyObject | IssuerKeys;
}

/**
 * @param clock the wall clock: `exp` and `iat` are compared with it, with the realm's skew. The monotonic one is for keys of issuers.
 * @param onTrouble called when the keys of a realm cannot be read, at most every 30 s.
 */
export function tokenVerifier(
  realms: readonly AuthRealm[],
  clock: Clock,
  onTrouble: (realm: string, reason: string) => void,
): TokenVerifier {
  const known = realms.map((realm): KnownRealm => ({ ...realm, key: keyOf(realm, clock, onTrouble) }));
  const byIssuer = new Map(known.map(realm => [realm.settings.issuer, realm]));
  return {
    async verify(token) {
      let realm: KnownRealm | undefined;
      let payload: JWTPayload;
      try {
        realm = byIssuer.get(decodeJwt(token).iss ?? '');
        if (realm === undefined) return invalid('the issuer of the token ("iss") is unknown here');
        payload = await payloadOf(token, realm, toMilliseconds(clock.now()));
      } catch (error) {
        if (error instanceof IssuerTrouble)
          return {
            kind: 'unavailable',
            reason: `the keys of realm ${realm?.settings.realm} cannot be read: ${error.message}`,
          };
        // A JOSEError is the token's fault; any other error is internal.
        if (!(error instanceof errors.JOSEError)) throw error;
        return invalid(reasonOf(error, realm));
      }
      return userOf(payload, realm.settings, toMilliseconds(clock.now()) / 1000);
    },
  };
}

function keyOf(
  { settings, key }: AuthRealm,
  clock: Clock,
  onTrouble: (realm: string, reason: string) => void,
): KnownRealm['key'] {
  if (key.kind === 'key') return key.key;
  const { issuer, realm } = settings;
  return issuerKeys({ issuer, keysUrl: key.keysUrl }, clock, reason => onTrouble(realm, reason));
}

async function payloadOf(token: string, { settings, key }: KnownRealm, nowMs: number): Promise<JWTPayload> {
  const options = {
    algorithms: [...ALGORITHMS[settings.key.kind]],
    issuer: settings.issuer,
    audience: settings.audience,
    currentDate: new Date(nowMs),
    clockTolerance: settings.skew,
    requiredClaims: ['exp', settings.userClaim],
    ...(settings.maxValidity === undefined ? {} : { maxTokenAge: settings.maxValidity }),
  };
  // jose has one signature for each kind of key.
  const { payload } =
    typeof key === 'function' ? await jwtVerify(token, key, options) : await jwtVerify(token, key, options);
  return payload;
}

function userOf(payload: JWTPayload, settings: AuthSettings, now: number): TokenVerdict {
  if (payload.iat !== undefined && payload.iat > now + settings.skew)
    return invalid('the token was issued in the future ("iat")');
  const name = payload[settings.userClaim];
  if (typeof name !== 'string' || name === '')
    return invalid(`the token does not name its user ("${settings.userClaim}")`);
  const tenants = adminTenants(payload.zuul);
  if (tenants === undefined) return invalid('the claim "zuul.admin" of the token is not a list of tenants');
  if (tenants.length > 0 && !settings.mayGrant)
    return invalid(
      `tokens of realm ${settings.realm} may not name tenants ("zuul.admin"); see allow_authz_override`,
    );
  const expiresAt = (payload.exp ?? 0) + settings.skew;
  return { kind: 'user', user: { name, realm: settings.realm, tenants, claims: payload, expiresAt } };
}

/** Undefined: the claim is malformed. */
function adminTenants(claim: unknown): readonly string[] | undefined {
  if (claim === undefined) return [];
  if (typeof claim !== 'object' || claim === null) return undefined;
  if (!('admin' in claim)) return [];
  const { admin } = claim;
  return Array.isArray(admin) && admin.every(each => typeof each === 'string') ? admin : undefined;
}

function invalid(reason: string): TokenVerdict {
  return { kind: 'invalid', reason };
}

function reasonOf(error: errors.JOSEError, realm: KnownRealm | undefined): string {
  if (error instanceof errors.JWTExpired) return 'the token has expired';
  if (error instanceof errors.JWTClaimValidationFailed)
    return error.reason === 'missing'
      ? `the token lacks the claim "${error.claim}"`
      : `the claim "${error.claim}" of the token is not the one realm ${realm?.settings.realm} requires`;
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'the signature of the token is wrong';
  if (error instanceof errors.JOSEAlgNotAllowed)
    return `the token is not signed with ${realm === undefined ? 'the right algorithm' : ALGORITHMS[realm.settings.key.kind].join(', ')}`;
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
    return `the issuer of realm ${realm?.settings.realm} has no single key that the token names ("kid")`;
  return 'the token is not a JSON web token, or is damaged';
}
