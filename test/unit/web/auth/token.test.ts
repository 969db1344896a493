import { createSecretKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { tokenVerifier } from '../../../../src/web/auth/token.ts';
import { NOW } from '../sample-gate.ts';
import {
  companyKey,
  companyPublicKey,
  companyRealm,
  NOW_S,
  sharedKey,
  sharedRealm,
  token,
} from './realms.ts';

const clock = { now: () => NOW, monotonic: () => 0 };
const both = tokenVerifier([sharedRealm(), companyRealm()], clock, () => {});

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const unsigned = `${part({ alg: 'none' })}.${part({ iss: 'gatehouse', aud: 'gate.example.org', sub: 'a', exp: NOW_S + 60 })}.`;

describe('a token', () => {
  test('names its user and the tenants they operate', async () => {
    expect(await both.verify(await token({ zuul: { admin: ['main', 'other'] } }))).toEqual({
      kind: 'user',
      user: {
        name: 'alice',
        realm: 'gate.example.org',
        tenants: ['main', 'other'],
        claims: expect.objectContaining({ iss: 'gatehouse', sub: 'alice' }),
        expiresAt: NOW_S + 600,
      },
    });
  });

  test('without our claim only identifies the user', async () => {
    expect(await both.verify(await token({ zuul: undefined }))).toMatchObject({ user: { tenants: [] } });
    expect(await both.verify(await token({ zuul: {} }))).toMatchObject({ user: { tenants: [] } });
  });

  test('of another issuer is checked with that one’s key', async () => {
    const claims = { iss: 'https://login.example.org', zuul: undefined };
    const made = await token(claims, { key: companyKey, alg: 'RS256' });
    expect(await both.verify(made)).toMatchObject({ user: { name: 'alice', realm: 'company' } });
  });

  test('may name its user by another claim', async () => {
    const verifier = tokenVerifier([sharedRealm({ userClaim: 'preferred_username' })], clock, () => {});
    expect(await verifier.verify(await token({ preferred_username: 'ada' }))).toMatchObject({
      user: { name: 'ada' },
    });
    expect(await verifier.verify(await token())).toEqual({
      kind: 'invalid',
      reason: 'the token lacks the claim "preferred_username"',
    });
  });

  test.each([
    ['text', 'nonsense', 'the token is not a JSON web token, or is damaged'],
    ['not signed at all', unsigned, 'the token is not signed with HS256'],
    ['of an unknown issuer', token({ iss: 'mallory' }), 'the issuer of the token ("iss") is unknown here'],
    ['of no issuer', token({ iss: undefined }), 'the issuer of the token ("iss") is unknown here'],
    [
      'signed with another secret',
      token({}, { key: createSecretKey(Buffer.alloc(32, 7)) }),
      'the signature of the token is wrong',
    ],
    ['expired', token({ exp: NOW_S - 1 }), 'the token has expired'],
    ['valid for ever', token({ exp: undefined }), 'the token lacks the claim "exp"'],
    ['not valid yet', token({ nbf: NOW_S + 60 }), /claim "nbf"/],
    ['issued in the future', token({ iat: NOW_S + 60 }), 'the token was issued in the future ("iat")'],
    [
      'for another service',
      token({ aud: 'other' }),
      /claim "aud" of the token is not the one realm gate.example.org requires/,
    ],
    ['without audience', token({ aud: undefined }), 'the token lacks the claim "aud"'],
    ['without user', token({ sub: undefined }), 'the token lacks the claim "sub"'],
    ['of a user without a name', token({ sub: '' }), 'the token does not name its user ("sub")'],
    [
      'for tenants that are no list',
      token({ zuul: { admin: 'main' } }),
      /"zuul.admin" of the token is not a list/,
    ],
    [
      'for tenants that are no names',
      token({ zuul: { admin: [7] } }),
      /"zuul.admin" of the token is not a list/,
    ],
    [
      'that grants what its realm may not',
      token(
        { iss: 'https://login.example.org', zuul: { admin: ['main'] } },
        { key: companyKey, alg: 'RS256' },
      ),
      /realm company may not name tenants/,
    ],
  ])('that is %s does not count', async (_what, made, reason) => {
    const verdict = await both.verify(await made);
    expect(verdict.kind === 'invalid' && verdict.reason).toMatch(
      typeof reason === 'string' ? new RegExp(`^${RegExp.escape(reason)}$`) : reason,
    );
  });

  test('cannot choose its algorithm: what is public of one realm signs nothing', async () => {
    const pem = createSecretKey(Buffer.from(companyPublicKey.export({ type: 'spki', format: 'pem' })));
    const forged = await token({ iss: 'https://login.example.org', zuul: undefined }, { key: pem });
    expect(await both.verify(forged)).toEqual({
      kind: 'invalid',
      reason: 'the token is not signed with RS256',
    });
  });

  test('of one realm is not believed as that of another', async () => {
    const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const claims = { iss: 'https://login.example.org', zuul: undefined };
    expect(await both.verify(await token(claims))).toMatchObject({ kind: 'invalid' });
    expect(await both.verify(await token(claims, { key: stranger, alg: 'RS256' }))).toMatchObject({
      kind: 'invalid',
    });
  });

  test('is valid no longer than its realm allows, even if it claims more', async () => {
    const verifier = tokenVerifier([sharedRealm({ maxValidity: 60 })], clock, () => {});
    expect(await verifier.verify(await token({ iat: NOW_S - 59 }))).toMatchObject({ kind: 'user' });
    expect(await verifier.verify(await token({ iat: NOW_S - 61 }))).toMatchObject({ kind: 'invalid' });
    expect(await verifier.verify(await token({ iat: undefined }))).toMatchObject({ kind: 'invalid' });
  });

  test('may be checked by a clock that is a little off', async () => {
    const verifier = tokenVerifier([sharedRealm({ skew: 5 })], clock, () => {});
    expect(await verifier.verify(await token({ iat: NOW_S + 4, exp: NOW_S + 9 }))).toMatchObject({
      kind: 'user',
    });
    expect(await verifier.verify(await token({ exp: NOW_S - 4 }))).toMatchObject({ kind: 'user' });
  });

  test('is in no reason', async () => {
    const made = await token({ sub: 'private-name', exp: NOW_S - 1 }, { key: sharedKey });
    expect(JSON.stringify(await both.verify(made))).not.toMatch(/private-name|eyJ/);
  });
});
