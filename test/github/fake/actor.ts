/** Who makes a request, by what it carries: the App (a JWT), an installation (its token), a person (a personal access token). */
import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, verify } from 'node:crypto';
import type { Installation, Permissions, World } from './world.ts';

export type Actor =
  | { readonly kind: 'anonymous'; readonly login: '' }
  | { readonly kind: 'app'; readonly login: string }
  | {
      readonly kind: 'installation';
      readonly login: string;
      readonly installation: Installation;
      readonly permissions: Permissions;
      /** Ids; null: all of the installation. */
      readonly repositories: ReadonlySet<number> | null;
    }
  | { readonly kind: 'user'; readonly login: string };

/** Why a credential is not taken: GitHub's text, answered with 401. */
export interface BadCredentials {
  readonly kind: 'bad';
  readonly text: string;
}

interface Token {
  readonly actor: Actor;
  /** Milliseconds. */
  expires: number;
}

export interface Credentials {
  /** PEM, PKCS #8. */
  readonly privateKey: string;
  /** A personal access token. */
  personalToken(login: string): string;
  installationToken(
    installation: Installation,
    permissions: Permissions,
    repositories: ReadonlySet<number> | null,
  ): { token: string; expires: number };
  /** Every token so far, also those that are taken no more. */
  issued(): readonly string[];
  /** Installation tokens issued so far are taken no more. @param account absent: of all */
  revokeInstallationTokens(account?: string): void;
  actorOf(authorization: string | undefined): Actor | BadCredentials;
}

const HOUR = 3_600_000;
let keys: { readonly publicKey: KeyObject; readonly privateKey: string } | undefined;

/** A key pair takes a tenth of a second of a processor: all fakes of a process share one. */
function keyPair() {
  if (keys === undefined) {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    keys = { publicKey: createPublicKey(pem), privateKey: pem };
  }
  return keys;
}

export function createCredentials(world: World): Credentials {
  const tokens = new Map<string, Token>();
  const { publicKey, privateKey } = keyPair();
  const bot = `${world.app.slug}[bot]`;
  const add = (prefix: string, actor: Actor, expires: number) => {
    const token = `${prefix}_${randomBytes(18).toString('hex')}`;
    tokens.set(token, { actor, expires });
    return { token, expires };
  };
  return {
    privateKey,
    personalToken: login => add('ghp', { kind: 'user', login }, Number.POSITIVE_INFINITY).token,
    installationToken: (installation, permissions, repositories) =>
      add(
        'ghs',
        { kind: 'installation', login: bot, installation, permissions, repositories },
        world.now() + HOUR,
      ),
    issued: () => [...tokens.keys()],
    revokeInstallationTokens(account) {
      for (const token of tokens.values()) {
        if (token.actor.kind !== 'installation') continue;
        if (account === undefined || token.actor.installation.account === account) token.expires = 0;
      }
    },
    actorOf(authorization) {
      const secret = secretOf(authorization);
      if (secret === undefined) return { kind: 'anonymous', login: '' };
      if (secret.split('.').length === 3)
        return appOf(world, publicKey, secret) ?? { kind: 'app', login: bot };
      const token = tokens.get(secret);
      if (token === undefined || token.expires <= world.now())
        return { kind: 'bad', text: 'Bad credentials' };
      return token.actor;
    },
  };
}

function secretOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const basic = /^basic (.+)$/i.exec(authorization);
  if (basic?.[1] === undefined) return authorization.replace(/^(bearer|token) /i, '');
  const [, password = ''] = Buffer.from(basic[1], 'base64').toString().split(':');
  return password;
}

/** @returns undefined: the token is the App's. */
function appOf(world: World, key: KeyObject, jwt: string): BadCredentials | undefined {
  const bad = (text: string): BadCredentials => ({ kind: 'bad', text });
  const [head = '', body = '', signature = ''] = jwt.split('.');
  const right = verify(
    'RSA-SHA256',
    Buffer.from(`${head}.${body}`),
    key,
    Buffer.from(signature, 'base64url'),
  );
  if (!right) return bad('A JSON web token could not be decoded');
  const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  const claims = decode(body);
  const seconds = world.now() / 1000;
  if (decode(head).alg !== 'RS256') return bad('A JSON web token could not be decoded');
  if (![String(world.app.id), world.app.clientId].includes(String(claims.iss)))
    return bad("'Issuer' claim ('iss') must be an Integer");
  if (!(claims.iat <= seconds + 60))
    return bad(
      "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
    );
  if (!(claims.exp > seconds))
    return bad(
      "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
    );
  if (claims.exp > seconds + 600 + 60 || claims.exp - claims.iat > 660)
    return bad("'Expiration time' claim ('exp') is too far in the future");
  return undefined;
}
