import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { showOptionProblem } from '../../../src/lib/option-reader.ts';
import { readAuthKeys } from '../../../src/settings/auth-keys.ts';
import { parseSettings } from '../../../src/settings/parse-settings.ts';

const MINIMAL = '[scheduler]\ntenant_config = tenants.yaml\n';
const SECRET = 'a secret that is long enough for it';
const directory = mkdtempSync(path.join(tmpdir(), 'gatehouse-auth-'));
afterAll(() => rmSync(directory, { recursive: true }));

function parse(text: string) {
  const content = new TextEncoder().encode(MINIMAL + text);
  return parseSettings({ content, file: 'gatehouse.conf', directory, environment: { SECRET } });
}

function authOf(text: string) {
  const parsed = parse(text);
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.map(showOptionProblem).join('\n'));
  return parsed.settings.auth;
}

function errorsOf(text: string): readonly string[] {
  const parsed = parse(text);
  return parsed.kind === 'invalid' ? parsed.problems.map(showOptionProblem) : [];
}

const OPERATORS = `[auth operators]
driver=HS256
realm=gate.example.org
issuer_id=gatehouse
client_id=gate.example.org
secret=%(SECRET)s
`;
const COMPANY = `[auth company]
driver=RS256
realm=company
issuer_id=https://login.example.org
client_id=gate.example.org
public_key=login.pem
`;

const PROVIDER = `[auth provider]
driver=OpenIDConnect
realm=provider
issuer_id=https://login.example.org
client_id=gate.example.org
`;

describe('[auth NAME]', () => {
  test('takes keys of issuers, with what clients need to sign in', () => {
    const [first, second] = authOf(
      `${PROVIDER}authority=https://login.example.org/v2\naudience=api://gate\nscope=openid\nload_user_info=false\n${COMPANY.replace('=RS256', '=RS256withJWKS').replace('https://login.example.org', 'us').replace('public_key=login.pem', 'keys_url=https://login.example.org/keys')}`,
    );
    expect(first).toMatchObject({
      issuer: 'https://login.example.org',
      authority: 'https://login.example.org/v2',
      clientId: 'gate.example.org',
      audience: 'api://gate',
      key: { kind: 'OpenIDConnect', keysUrl: undefined, scope: 'openid', loadUserInfo: false },
    });
    expect(second?.key).toEqual({ kind: 'RS256withJWKS', keysUrl: 'https://login.example.org/keys' });
    expect(authOf(PROVIDER)[0]).toMatchObject({
      audience: 'gate.example.org',
      authority: 'https://login.example.org',
      key: { scope: 'openid profile', loadUserInfo: true },
    });
  });

  test('a section of a zuul.conf fits as it is', () => {
    const [operators, company] = authOf(
      `${OPERATORS}allow_authz_override=true\ndefault=true\nmax_validity_time=1800\nskew=3\nuid_claim=name\n${COMPANY}`,
    );
    expect(operators).toMatchObject({
      name: 'operators',
      realm: 'gate.example.org',
      issuer: 'gatehouse',
      audience: 'gate.example.org',
      userClaim: 'name',
      maxValidity: 1800,
      skew: 3,
      mayGrant: true,
      isDefault: true,
    });
    expect(operators?.key.kind === 'HS256' && operators.key.secret.reveal()).toBe(SECRET);
    expect(company).toEqual({
      name: 'company',
      realm: 'company',
      issuer: 'https://login.example.org',
      audience: 'gate.example.org',
      clientId: 'gate.example.org',
      authority: 'https://login.example.org',
      key: {
        kind: 'RS256',
        file: { path: path.join(directory, 'login.pem'), at: { file: 'gatehouse.conf', line: 19 } },
      },
      userClaim: 'sub',
      maxValidity: undefined,
      skew: 0,
      mayGrant: false,
      isDefault: false,
    });
  });

  test('its secret is never shown', () => {
    expect(JSON.stringify(authOf(OPERATORS))).not.toContain('long enough');
  });

  test.each([
    ['no name', '[auth]\n', /:3: \[auth\]: lacks a name; write \[auth NAME\]/],
    ['no driver', '[auth a]\n', /:3: \[auth a\] driver: is required and missing/],
    [
      'a driver we do not have',
      OPERATORS.replace('HS256', 'OpenID'),
      /:4: \[auth operators\] driver: "OpenID" is not one of HS256, RS256/,
    ],
    ['no secret', OPERATORS.replace(/^secret.*$/m, ''), /secret: is required and missing/],
    ['a secret that is easy to guess', OPERATORS.replace('%(SECRET)s', 'zuul'), /:8: .*shorter than 32/],
    ['no public key', COMPANY.replace(/^public_key.*$/m, ''), /public_key: is required and missing/],
    ['a secret beside a public key', `${COMPANY}secret=x\n`, /secret: unknown option/],
    [
      'a realm that would end a header',
      OPERATORS.replace('realm=gate', 'realm=g"ate'),
      /:5: .*holds a quote/,
    ],
    ['an unknown option', `${OPERATORS}isuer_id=x\n`, /isuer_id: unknown option, did you mean "issuer_id"/],
    [
      'no address of keys',
      `${COMPANY.replace('=RS256', '=RS256withJWKS')}`,
      /keys_url: is required and missing/,
    ],
    [
      'keys over a connection that others can change',
      `${PROVIDER}keys_url=http://login.example.org/keys\n`,
      /keys_url: must begin with https:/,
    ],
    [
      'an issuer to be found that is no address',
      PROVIDER.replace('https://login.example.org', 'zuul_operator'),
      /issuer_id: not a URL starting with http/,
    ],
    [
      'two of one issuer',
      OPERATORS + COMPANY.replace('https://login.example.org', 'gatehouse'),
      /\[auth company\] issuer_id: is that of \[auth operators\], too/,
    ],
    [
      'two defaults',
      `${OPERATORS}default=true\n${COMPANY}default=true\n`,
      /\[auth company\] default: \[auth operators\] is the default already/,
    ],
  ])('%s stops the start', (_what, text, expected) => {
    expect(errorsOf(text).join('\n')).toMatch(expected);
  });
});

describe('the public key', () => {
  function keysOf(pem: string | Buffer) {
    writeFileSync(path.join(directory, 'login.pem'), pem);
    return readAuthKeys(authOf(COMPANY));
  }
  const spki = { type: 'spki', format: 'pem' } as const;

  test('is read from its file', () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    expect(keysOf(publicKey.export(spki))).toMatchObject({
      kind: 'keys',
      realms: [{ settings: { realm: 'company' } }],
    });
  });

  test.each([
    ['no PEM', 'nonsense', /login.pem is no public key in PEM form/],
    ['of another kind', generateKeyPairSync('ed25519').publicKey.export(spki), /login.pem is no RSA key/],
    [
      'too short',
      generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export(spki),
      /has 1024 bits; RS256 wants 2048 or more/,
    ],
  ])('that is %s is refused with its place', (_what, pem, expected) => {
    const keys = keysOf(pem);
    expect(keys.kind === 'invalid' && keys.errors[0]).toMatch(expected);
    expect(keys.kind === 'invalid' && keys.errors[0]).toMatch(
      /^gatehouse.conf:8: \[auth company\] public_key: /,
    );
  });

  test('that is not there is refused, too', () => {
    rmSync(path.join(directory, 'login.pem'), { force: true });
    expect(readAuthKeys(authOf(COMPANY))).toMatchObject({
      kind: 'invalid',
      errors: [expect.stringContaining('there is no such file')],
    });
  });
});
