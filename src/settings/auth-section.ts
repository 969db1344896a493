/**
 * `[auth NAME]`: grants access beyond this machine: to bearers of tokens (JWT) signed by a trusted issuer.
 * Zuul's names, so that the sections of a zuul.conf fit as they are.
 *
 *     [auth operators]                     [auth company]
 *     driver = HS256                       driver = RS256
 *     realm = gate.example.org             realm = company
 *     issuer_id = gatehouse                issuer_id = https://login.example.org
 *     client_id = gate.example.org         client_id = gate.example.org
 *     secret = %(GATEHOUSE_AUTH_SECRET)s   public_key = /etc/gatehouse/login.pem
 *     allow_authz_override = true          allow_authz_override = true
 *
 * A token belongs to the section whose `issuer_id` is its `iss`; the section fixes the algorithm, so a token cannot choose one.
 * Public keys are read when a web starts (auth-keys.ts), those of `OpenIDConnect` and `RS256withJWKS` from the issuer with the first token.
 */
import {
  type OptionProblem,
  type OptionReader,
  type OptionSection,
  optionReader,
} from '../lib/option-reader.ts';
import { Secret } from '../lib/secret.ts';
import { isLoopback } from './loopback.ts';
import type { AuthSettings } from './settings.ts';

const DRIVERS = ['HS256', 'RS256', 'RS256withJWKS', 'OpenIDConnect'] as const;

/** As RFC 7518 demands of HS256: as long as the hash. */
const SHORTEST_SECRET = 32;

/** Also true of `[auth]` without a name, which {@link readAuth} refuses. @param name of a section, as in the file. */
export function isAuth(name: string): boolean {
  return /^auth(\s|$)/.test(name);
}

/** All of them, in the order of the file. */
export function readAuth(
  sections: Iterable<OptionSection>,
  problems: OptionProblem[],
): readonly AuthSettings[] {
  const read: AuthSettings[] = [];
  for (const section of sections) {
    if (!isAuth(section.name)) continue;
    const reader = optionReader(section);
    const auth = readSection(reader, section);
    refuseDoubles(reader, auth, read);
    const found = [...nameProblems(section, auth.name), ...reader.finish()];
    problems.push(...found);
    if (found.length === 0) read.push(auth);
  }
  return read;
}

function nameProblems(section: OptionSection, name: string): readonly OptionProblem[] {
  const refuse = (reason: string) => [{ at: section.at, section: section.name, reason }];
  if (name === '') return refuse('lacks a name; write [auth NAME]');
  return /^[\w.-]+$/.test(name) ? [] : refuse(`"${name}" is not a name of letters, digits, ".", "_" and "-"`);
}

function readSection(read: OptionReader, section: OptionSection): AuthSettings {
  read.required('driver');
  const issuer = read.required('issuer_id');
  const clientId = read.required('client_id');
  return {
    name: section.name.replace(/^auth\s*/, ''),
    realm: readRealm(read),
    issuer,
    audience: read.string('audience') ?? clientId,
    clientId,
    authority: read.string('authority') ?? issuer,
    key: readKey(read, section),
    userClaim: read.string('uid_claim', 'sub'),
    maxValidity: read.has('max_validity_time')
      ? read.duration('max_validity_time', { min: 1 }, 1)
      : undefined,
    skew: read.duration('skew', { min: 0, max: 600 }, 0),
    mayGrant: read.boolean('allow_authz_override', false),
    isDefault: read.boolean('default', false),
  };
}

/** Goes into a header, between quotes. */
function readRealm(read: OptionReader): string {
  const realm = read.required('realm');
  if (realm !== '' && !/^[ !#-[\]-~]{1,200}$/.test(realm))
    read.refuse('realm', 'holds a quote, a backslash, or something other than printable ASCII');
  return realm;
}

function readKey(read: OptionReader, section: OptionSection): AuthSettings['key'] {
  const driver = read.oneOf('driver', DRIVERS, 'HS256');
  switch (driver) {
    case 'HS256':
      return readSecret(read);
    case 'RS256': {
      read.required('public_key');
      const path = read.path('public_key', 'missing');
      return { kind: driver, file: { path, at: section.options.get('public_key')?.at ?? section.at } };
    }
    case 'RS256withJWKS':
      read.required('keys_url');
      return { kind: driver, keysUrl: readSafeUrl(read, 'keys_url') ?? '' };
    case 'OpenIDConnect': {
      const keysUrl = readSafeUrl(read, 'keys_url');
      // Without it the keys are found through the issuer's own address.
      if (keysUrl === undefined && read.has('issuer_id')) readSafeUrl(read, 'issuer_id');
      const scope = read.string('scope', 'openid profile');
      return { kind: driver, keysUrl, scope, loadUserInfo: read.boolean('load_user_info', true) };
    }
  }
}

/** What is read there decides whose tokens count: no connection that others can change will do. */
function readSafeUrl(read: OptionReader, option: string): string | undefined {
  const url = read.url(option, ['http', 'https']);
  if (url === undefined) return undefined;
  const { protocol, hostname } = new URL(url);
  if (protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, '')))
    read.refuse(option, 'must begin with https://: its answer decides whose tokens count');
  return url;
}

function readSecret(read: OptionReader): AuthSettings['key'] {
  const secret = read.secret('secret');
  if (secret === undefined) read.refuse('secret', 'is required and missing');
  else if (Buffer.byteLength(secret.reveal()) < SHORTEST_SECRET)
    read.refuse(
      'secret',
      `is shorter than ${SHORTEST_SECRET} characters; openssl rand -base64 48 makes a good one`,
    );
  return { kind: 'HS256', secret: secret ?? new Secret('') };
}

/** Two sections for one token would be ambiguous. */
function refuseDoubles(read: OptionReader, auth: AuthSettings, others: readonly AuthSettings[]): void {
  const sameIssuer = others.find(({ issuer }) => issuer === auth.issuer);
  const sameRealm = others.find(({ realm }) => realm === auth.realm);
  const otherDefault = auth.isDefault ? others.find(({ isDefault }) => isDefault) : undefined;
  if (sameIssuer !== undefined) read.refuse('issuer_id', `is that of [auth ${sameIssuer.name}], too`);
  if (sameRealm !== undefined) read.refuse('realm', `is that of [auth ${sameRealm.name}], too`);
  if (otherDefault !== undefined)
    read.refuse('default', `[auth ${otherDefault.name}] is the default already`);
}
