/**
 * Signing in at the issuer of a realm: OpenID Connect's authorization code with PKCE.
 *
 *     beginSignIn   reads the issuer's addresses, keeps state and verifier in the tab, and goes to the issuer
 *     (the issuer)  asks who it is, and comes back to /auth_callback, Zuul's address, with a code
 *     endSignIn     removes the code from the address, checks the state, and exchanges the code for a token
 *
 * The code is worth nothing without the verifier, which leaves the tab in the body of one request alone. Pure protocol: nothing here draws.
 */
import type { InfoDocument } from '../../api/service.ts';
import { base, fetchJson } from './address.ts';
import { keepSession } from './session.ts';

/** One that the page can sign in at. */
export interface Realm {
  readonly name: string;
  readonly authority: string;
  readonly clientId: string;
  readonly scope: string;
}

/** `address` is the page from which it began. */
export type SignedIn =
  | { readonly kind: 'signed-in'; readonly address: string }
  | { readonly kind: 'failed'; readonly address: string; readonly text: string };

interface Begun {
  readonly state: string;
  readonly verifier: string;
  readonly tokenEndpoint: string;
  readonly clientId: string;
  readonly address: string;
}

const KEY = 'gatehouse-sign-in';
const CALLBACK = '/auth_callback';
/** Milliseconds for an answer of the issuer. */
const PATIENCE_MS = 10_000;
/** Seconds for which a token counts whose issuer does not say. */
const USUAL_SECONDS = 300;

/** Where this page is the one that the issuer comes back to. */
export function isCallback(): boolean {
  return location.pathname === `${base}${CALLBACK}`;
}

/** Those with OpenID Connect, the default one first; empty: the service has none, or does not answer. */
export async function openIdRealms(): Promise<readonly Realm[]> {
  const info = await fetchJson<InfoDocument>(`${base}/api/info`).catch(() => undefined);
  if (info === undefined) return [];
  const { realms, default_realm: usual } = info.info.capabilities.auth;
  return Object.entries(realms)
    .filter(([, { driver }]) => driver === 'OpenIDConnect')
    .map(([name, { authority, client_id: clientId, scope = 'openid' }]) => ({
      name,
      authority,
      clientId,
      scope,
    }))
    .sort((a, b) => Number(b.name === usual) - Number(a.name === usual));
}

/** @returns only when it cannot leave the page. @throws Error saying why, for people. */
export async function beginSignIn({ authority, clientId, scope }: Realm, address: string): Promise<void> {
  if (!window.isSecureContext)
    throw new Error('signing in takes https: browsers give no cryptography to pages without it');
  const metadata = await issuerMetadata(authority);
  const begun: Begun = {
    ...{ state: random(), verifier: random(), tokenEndpoint: metadata.token, clientId, address },
  };
  sessionStorage.setItem(KEY, JSON.stringify(begun));
  const target = new URL(metadata.authorization);
  const parameters = {
    ...{ response_type: 'code', client_id: clientId, scope, redirect_uri: callbackAddress() },
    ...{
      state: begun.state,
      code_challenge_method: 'S256',
      code_challenge: await challengeOf(begun.verifier),
    },
  };
  for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, value);
  location.assign(target);
}

/** On the page that the issuer came back to. A failure is for people. */
export async function endSignIn(): Promise<SignedIn> {
  const answer = new URLSearchParams(location.search);
  window.history.replaceState(null, '', `${base}${CALLBACK}`);
  const text = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  const begun: Begun | undefined = text === null ? undefined : JSON.parse(text);
  const address = begun?.address ?? `${base}/`;
  const failed = (why: string): SignedIn => ({ kind: 'failed', address, text: why });
  if (begun === undefined || answer.get('state') !== begun.state)
    return failed('this browser tab did not begin to sign in');
  const refusal = answer.get('error_description') ?? answer.get('error');
  if (refusal !== null) return failed(`the issuer refused: ${refusal.slice(0, 200)}`);
  try {
    const { token, seconds } = await exchange(begun, answer.get('code') ?? '');
    const refused = await refusalOf(token);
    if (refused !== undefined) return failed(refused);
    keepSession(token, seconds);
    return { kind: 'signed-in', address };
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
}

async function exchange(
  { tokenEndpoint, clientId, verifier }: Begun,
  code: string,
): Promise<{ readonly token: string; readonly seconds: number }> {
  const response = await fetch(tokenEndpoint, {
    method: 'POST',
    body: new URLSearchParams({
      ...{ grant_type: 'authorization_code', code, redirect_uri: callbackAddress() },
      ...{ client_id: clientId, code_verifier: verifier },
    }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  if (!response.ok) throw new Error(`the issuer gave no token (${response.status})`);
  const { access_token: access, id_token: id, expires_in: seconds } = await response.json();
  // Some issuers give access tokens that only they can read.
  const token = [access, id].find(each => typeof each === 'string' && each.split('.').length === 3);
  if (typeof token !== 'string') throw new Error('the issuer gave no token that this service can check');
  return { token, seconds: typeof seconds === 'number' ? seconds : USUAL_SECONDS };
}

/** Why the service does not accept the token; undefined: it does. */
async function refusalOf(token: string): Promise<string | undefined> {
  const headers = { Authorization: `Bearer ${token}` };
  const response = await fetch(`${base}/api/authorizations`, { headers });
  if (response.status !== 401) return undefined;
  const { error }: { error?: string } = await response.json();
  return `this service does not accept the token: ${error ?? 'it does not say why'}`;
}

async function issuerMetadata(
  authority: string,
): Promise<{ readonly authorization: string; readonly token: string }> {
  const address = `${authority.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const response = await fetch(address, { signal: AbortSignal.timeout(PATIENCE_MS) }).catch(() => undefined);
  if (response?.ok !== true) throw new Error(`the issuer ${authority} cannot be reached from here`);
  const { authorization_endpoint: authorization, token_endpoint: token } = await response.json();
  for (const each of [authorization, token])
    if (typeof each !== 'string' || !/^https?:\/\//.test(each))
      throw new Error(`the issuer ${authority} does not say where to sign in`);
  return { authorization, token };
}

function callbackAddress(): string {
  return `${location.origin}${base}${CALLBACK}`;
}

function random(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

async function challengeOf(verifier: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
