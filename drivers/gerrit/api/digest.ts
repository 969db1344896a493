/**
 * HTTP Digest authentication (RFC 7616, and RFC 2069 for servers without `qop`). Pure.
 *
 *     const challenge = readDigestChallenge('Digest realm="Gerrit", qop="auth", nonce="x", algorithm=MD5');
 *     challenge && digestHeader(challenge, { user, password, method: 'GET', uri: '/a/changes/12', count: 1, cnonce: '0a4f…' })
 *
 * Bodies are not covered (`auth-int`): Gerrit does not ask for it.
 */
import { createHash } from 'node:crypto';

/** What the server asks for. */
export interface DigestChallenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | null;
  readonly algorithm: 'MD5' | 'MD5-sess' | 'SHA-256' | 'SHA-256-sess';
  /** False: the server is older than `qop`. */
  readonly hasQop: boolean;
  /** The nonce before was too old; the password was not judged. */
  readonly isStale: boolean;
}

/** One request that is authenticated. */
export interface DigestUse {
  readonly user: string;
  /** In plain text. */
  readonly password: string;
  readonly method: string;
  /** Path with query, as in the request line. */
  readonly uri: string;
  /** Uses of the nonce, this one included. */
  readonly count: number;
  /** Random, hexadecimal. */
  readonly cnonce: string;
}

/** In the order of preference. */
const ALGORITHMS = ['SHA-256', 'SHA-256-sess', 'MD5', 'MD5-sess'] as const;
const LONGEST_HEADER = 8_192;

/** @param header of `WWW-Authenticate`, several challenges joined by commas. @returns the strongest we can meet; null: none. */
export function readDigestChallenge(header: string): DigestChallenge | null {
  const challenges = splitChallenges(header.slice(0, LONGEST_HEADER)).flatMap(
    each => toChallenge(each) ?? [],
  );
  for (const algorithm of ALGORITHMS) {
    const found = challenges.find(each => each.algorithm === algorithm);
    if (found !== undefined) return found;
  }
  return null;
}

interface Challenge {
  readonly scheme: string;
  readonly parameters: Map<string, string>;
}

/** `scheme`, or `name=value`, or `name="value"`. */
const PART = /([a-z0-9!#$%&'*+.^_`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?/gi;

function splitChallenges(header: string): readonly Challenge[] {
  const challenges: Challenge[] = [];
  for (const [, name = '', quoted, bare] of header.matchAll(PART)) {
    const value = quoted?.replace(/\\(.)/g, '$1') ?? bare;
    if (value === undefined) challenges.push({ scheme: name.toLowerCase(), parameters: new Map() });
    else challenges.at(-1)?.parameters.set(name.toLowerCase(), value);
  }
  return challenges;
}

function toChallenge({ scheme, parameters }: Challenge): DigestChallenge | null {
  const nonce = parameters.get('nonce');
  const asked = (parameters.get('algorithm') ?? 'MD5').toLowerCase();
  const algorithm = ALGORITHMS.find(each => each.toLowerCase() === asked);
  const qop = parameters.get('qop');
  const hasAuth = qop?.split(',').some(each => each.trim().toLowerCase() === 'auth') ?? false;
  if (scheme !== 'digest' || nonce === undefined || algorithm === undefined) return null;
  if (qop !== undefined && !hasAuth) return null;
  return {
    nonce,
    algorithm,
    realm: parameters.get('realm') ?? '',
    opaque: parameters.get('opaque') ?? null,
    hasQop: hasAuth,
    isStale: parameters.get('stale')?.toLowerCase() === 'true',
  };
}

/** @returns value of the `Authorization` header. */
export function digestHeader(challenge: DigestChallenge, use: DigestUse): string {
  const { realm, nonce, opaque, algorithm, hasQop } = challenge;
  const { user, uri, cnonce } = use;
  const hash = hashOf(algorithm);
  const count = use.count.toString(16).padStart(8, '0');
  const account = hash(`${user}:${realm}:${use.password}`);
  const a1 = algorithm.endsWith('-sess') ? hash(`${account}:${nonce}:${cnonce}`) : account;
  const a2 = hash(`${use.method}:${uri}`);
  const response = hash(hasQop ? `${a1}:${nonce}:${count}:${cnonce}:auth:${a2}` : `${a1}:${nonce}:${a2}`);
  return `Digest ${[
    `username="${quoted(user)}"`,
    `realm="${quoted(realm)}"`,
    `nonce="${quoted(nonce)}"`,
    `uri="${quoted(uri)}"`,
    `algorithm=${algorithm}`,
    `response="${response}"`,
    ...(hasQop || algorithm.endsWith('-sess') ? [`cnonce="${cnonce}"`] : []),
    ...(hasQop ? ['qop=auth', `nc=${count}`] : []),
    ...(opaque === null ? [] : [`opaque="${quoted(opaque)}"`]),
  ].join(', ')}`;
}

function quoted(text: string): string {
  return text.replace(/["\\]/g, '\\$&').replace(/[\r\n]/g, '');
}

function hashOf(algorithm: DigestChallenge['algorithm']): (text: string) => string {
  const name = algorithm.startsWith('MD5') ? 'md5' : 'sha256';
  return text => createHash(name).update(text).digest('hex');
}
