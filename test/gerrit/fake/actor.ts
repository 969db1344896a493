/** Whose request it is: Basic, Digest, Bearer, cookie. Only paths below `/a/` are looked at for credentials. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FakeAccount, GerritWorld } from './world.ts';

export type Caller =
  | { readonly kind: 'account'; readonly account: FakeAccount }
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'bad' };

/** What a site takes; the other kinds are refused. */
export type HttpAuth = 'basic' | 'digest';

const REALM = 'Gerrit Code Review';
const NONCE = 'b2a7f1c0d4e94f0f';

export function callerOf(world: GerritWorld, auth: HttpAuth, request: IncomingMessage): Caller {
  const path = request.url ?? '/';
  if (!path.startsWith('/a/')) return { kind: 'anonymous' };
  const account = byCookie(world, request) ?? byHeader(world, auth, request);
  return account === undefined ? { kind: 'bad' } : { kind: 'account', account };
}

export function challenge(auth: HttpAuth): string {
  return auth === 'basic'
    ? `Basic realm="${REALM}"`
    : `Digest realm="${REALM}", domain="/", qop="auth", nonce="${NONCE}", algorithm=MD5`;
}

function byCookie(world: GerritWorld, request: IncomingMessage): FakeAccount | undefined {
  const token = /(?:^|;\s*)o=([^;]+)/.exec(request.headers.cookie ?? '')?.[1];
  return token === undefined ? undefined : byToken(world, token);
}

function byToken(world: GerritWorld, token: string): FakeAccount | undefined {
  return [...world.accounts.values()].find(each => each.token === token);
}

function byHeader(world: GerritWorld, auth: HttpAuth, request: IncomingMessage): FakeAccount | undefined {
  const header = request.headers.authorization ?? '';
  const [kind = '', value = ''] = [
    header.split(' ')[0]?.toLowerCase(),
    header.slice(header.indexOf(' ') + 1),
  ];
  if (kind === 'bearer') return byToken(world, value);
  if (kind === 'basic' && auth === 'basic') {
    const [user = '', ...password] = Buffer.from(value, 'base64').toString().split(':');
    const account = world.accounts.get(user);
    return account?.httpPassword === password.join(':') ? account : undefined;
  }
  return kind === 'digest' && auth === 'digest' ? byDigest(world, request.method ?? 'GET', value) : undefined;
}

/** RFC 2617 with `qop=auth`. */
function byDigest(world: GerritWorld, method: string, header: string): FakeAccount | undefined {
  const pairs = [...header.matchAll(/(\w+)=(?:"([^"]*)"|([^\s,]+))/g)];
  const field = new Map(pairs.map(([, name = '', quoted, plain]) => [name, quoted ?? plain ?? '']));
  const of = (name: string) => field.get(name) ?? '';
  const account = world.accounts.get(of('username'));
  if (account === undefined || of('nonce') !== NONCE) return undefined;
  const md5 = (text: string) => createHash('md5').update(text).digest('hex');
  const secret = md5(`${account.username}:${REALM}:${account.httpPassword}`);
  const asked = md5(`${method}:${of('uri')}`);
  const parts = [secret, of('nonce'), of('nc'), of('cnonce'), of('qop'), asked];
  return md5(parts.join(':')) === of('response') ? account : undefined;
}
