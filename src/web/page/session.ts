/**
 * Who is signed in in this tab: a token of the issuer, in the tab's session storage and in the header of requests, never in an address.
 * It is forgotten when it expires, when the service refuses it, and when its user signs out.
 */

/** Times in milliseconds since the epoch. */
interface Session {
  readonly token: string;
  readonly expiresAt: number;
}

const KEY = 'gatehouse-session';

function stored(): Session | undefined {
  // A worker has no session storage, and reads what is open to all.
  if (typeof sessionStorage === 'undefined') return undefined;
  const text = sessionStorage.getItem(KEY);
  return text === null ? undefined : JSON.parse(text);
}

/** Undefined: the tab is not signed in, or no more. */
export function sessionToken(): string | undefined {
  const session = stored();
  if (session === undefined) return undefined;
  if (session.expiresAt > Date.now()) return session.token;
  forgetSession();
  return undefined;
}

/** Of requests to the API of this service, and to no other. */
export function authorization(): { readonly Authorization?: string } {
  const token = sessionToken();
  return token === undefined ? {} : { Authorization: `Bearer ${token}` };
}

/** @param seconds that the token lasts. */
export function keepSession(token: string, seconds: number): void {
  const session: Session = { token, expiresAt: Date.now() + seconds * 1000 };
  sessionStorage.setItem(KEY, JSON.stringify(session));
}

export function forgetSession(): void {
  sessionStorage.removeItem(KEY);
}

/** Milliseconds until the session ends; undefined: there is none. */
export function sessionEndsIn(): number | undefined {
  const session = stored();
  return session === undefined ? undefined : Math.max(0, session.expiresAt - Date.now());
}
