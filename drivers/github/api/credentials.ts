/** Whose credentials a request goes with: the App, its installation on the repository, or the configured token. */
import { toMilliseconds } from '../../../src/lib/clock.ts';
import type { Secret } from '../../../src/lib/secret.ts';
import type { ClientTime } from './client-time.ts';
import type { Exchange, ExchangeCredential, Exchanged } from './exchange.ts';
import { createInstallations, type FoundInstallation } from './installations.ts';
import type { GithubCall } from './port.ts';
import type { TokenUse } from './token-use.ts';
import { createTokens } from './tokens.ts';

/** Every other kind is an answer that the caller passes on. */
export type FoundCredential =
  | ({ readonly kind: 'credential' } & ExchangeCredential)
  | Exclude<Exchanged, { kind: 'ok' }>;

/** Of one connection. */
export interface Credentials {
  readonly isApp: boolean;
  /** @throws the signal's reason. */
  find(use: TokenUse, call: GithubCall): Promise<FoundCredential>;
  /** Of requests about the App itself. Undefined: there is none. */
  readonly asApp: ExchangeCredential | undefined;
  /** The installation on the call's repository. Undefined: there is no App. */
  installation(call: GithubCall): Promise<FoundInstallation | undefined>;
  /**
   * GitHub answered 401. Makes sure that the next `find` may do better: waits a moment when the token is new, because GitHub's
   * machines learn of it one after the other; drops it otherwise.
   *
   * @param isAgain a pause did not help.
   * @returns false: it would be the same.
   */
  renew(credential: ExchangeCredential, isAgain: boolean, signal: AbortSignal): Promise<boolean>;
  /** @param repository `owner/name`; absent: all, after an event about installations. */
  forget(repository?: string): void;
}

/** A token is new for so long, and is asked with again after a pause of half a second. */
const NEW_MS = 5_000;
const PAUSE_MS = 500;
const NO_KEY = {
  kind: 'denied',
  text: 'this process has no app_key, so it makes no requests to GitHub',
} as const;

/** @param token of a user, which does not expire. */
export function tokenCredentials(token: Secret): Credentials {
  const credential = { kind: 'credential', key: 'token', token } as const;
  return {
    isApp: false,
    find: () => Promise.resolve(credential),
    asApp: undefined,
    installation: () => Promise.resolve(undefined),
    renew: () => Promise.resolve(false),
    forget: () => {},
  };
}

/** Of a process that was given no key. */
export const noCredentials: Credentials = {
  isApp: true,
  find: () => Promise.resolve(NO_KEY),
  asApp: undefined,
  installation: () => Promise.resolve(NO_KEY),
  renew: () => Promise.resolve(false),
  forget: () => {},
};

/** @param lifetime ends the requests for installations and tokens, which several calls share. */
export function appCredentials(
  exchange: Exchange,
  { clock, pause }: ClientTime,
  lifetime: AbortSignal,
): Credentials {
  const installations = createInstallations(exchange, clock, lifetime);
  const tokens = createTokens(exchange, clock, lifetime);
  const madeAt = new WeakMap<Secret, number>();
  return {
    isApp: true,
    async find(use, call) {
      const found = await installations.find(call);
      if (found.kind !== 'installed') return found;
      const token = await tokens.find(found.installation, use, call);
      // Gone, suspended, or with other permissions than an hour ago: asked about again at the next use.
      if (token.kind === 'refused' || token.kind === 'denied') installations.forget(call.repository);
      if (token.kind === 'refused')
        return { kind: 'denied', text: `GitHub gives no token for ${call.repository}: ${token.text}` };
      if (token.kind !== 'token') return token;
      madeAt.set(token.secret, token.madeAt);
      return { kind: 'credential', key: String(found.installation.id), token: token.secret };
    },
    asApp: { key: 'app', token: undefined },
    installation: call => installations.find(call),
    async renew({ token }, isAgain, signal) {
      if (token === undefined) return false;
      const age = toMilliseconds(clock.now()) - (madeAt.get(token) ?? 0);
      if (isAgain || age >= NEW_MS) {
        tokens.drop(token);
        return true;
      }
      await pause(PAUSE_MS, signal);
      signal.throwIfAborted();
      return true;
    },
    forget(repository) {
      installations.forget(repository);
      if (repository === undefined) tokens.forget();
    },
  };
}
