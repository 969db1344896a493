/** Tokens of installations: made per use, kept in memory until shortly before they expire. */
import { createLru } from '../../../src/git/support/lru.ts';
import { type Clock, toMilliseconds } from '../../../src/lib/clock.ts';
import { Secret } from '../../../src/lib/secret.ts';
import type { Exchange, Exchanged } from './exchange.ts';
import type { GithubInstallation } from './installations.ts';
import type { GithubCall } from './port.ts';
import { ownerAndName } from './repository-name.ts';
import { createSingleFlight } from './single-flight.ts';
import { permissionsFor, type TokenUse } from './token-use.ts';

/** One that is valid for a while yet. */
interface GithubToken {
  readonly kind: 'token';
  readonly secret: Secret;
  /** Of its making, milliseconds since the epoch: GitHub's machines learn of it within seconds. */
  readonly madeAt: number;
}

/** Every other kind is an answer that the caller passes on. */
type FoundToken = GithubToken | Exclude<Exchanged, { kind: 'ok' }>;

/** Of one App at one host. */
export interface InstallationTokens {
  /** @throws the signal's reason. */
  find(installation: GithubInstallation, use: TokenUse, call: GithubCall): Promise<FoundToken>;
  /**
   * GitHub does not accept it any more, though its time is not over. The others of its installation are made anew as well: what git
   * is refused with is not seen here.
   */
  drop(token: Secret): void;
  /** After an event about installations: permissions may have changed. */
  forget(): void;
}

const MOST = 10_000;
const MINUTE = 60_000;
/** Time that is left at least: a large clone takes its time, a request does not. */
const LEFT_MS = { api: 5 * MINUTE, git: 20 * MINUTE };
/** GitHub's lifetime of a token, when it does not say. */
const LIFETIME_MS = 60 * MINUTE;

interface Kept {
  readonly token: GithubToken;
  readonly until: number;
}

export function createTokens(exchange: Exchange, clock: Clock, lifetime: AbortSignal): InstallationTokens {
  const kept = createLru<string, Kept>(MOST);
  const keyOf = new WeakMap<Secret, string>();
  /** By installation: tokens made before this time may be revoked. */
  const doubtedAt = new Map<string, number>();
  const flights = createSingleFlight<FoundToken>();
  const now = () => toMilliseconds(clock.now());

  async function make(
    key: string,
    { id, permissions }: GithubInstallation,
    use: TokenUse,
    { repository, steps }: GithubCall,
  ): Promise<FoundToken> {
    const madeAt = now();
    const answer = await exchange(
      {
        operation: 'apps/create-installation-access-token',
        route: 'POST /app/installations/{installation_id}/access_tokens',
        parameters: {
          installation_id: id,
          permissions: permissionsFor(use, permissions),
          ...(use.kind === 'git' ? { repositories: [ownerAndName(use.repository).repo] } : {}),
        },
        cost: { resource: 'core', isWrite: false, createsContent: false },
        isRepeatable: true,
      },
      { key: 'app', token: undefined },
      { repository, weight: 'final', signal: lifetime, ...(steps && { steps }) },
    );
    if (answer.kind !== 'ok') return answer;
    const read = readToken(answer.data, madeAt);
    if (read === undefined)
      return { kind: 'outage', reason: 'other', text: 'GitHub sent no token', until: null, isSent: false };
    keyOf.set(read.token.secret, key);
    kept.set(key, read);
    return read.token;
  }

  function isGood({ token, until }: Kept, use: TokenUse, doubted = 0): boolean {
    return until - LEFT_MS[use.kind] > now() && token.madeAt >= doubted;
  }

  return {
    find(installation, use, call) {
      const key = keyFor(installation, use);
      const known = kept.get(key);
      if (known !== undefined && isGood(known, use, doubtedAt.get(String(installation.id))))
        return Promise.resolve(known.token);
      return flights.run(key, () => make(key, installation, use, call), call.signal);
    },
    drop(token) {
      const key = keyOf.get(token);
      if (key === undefined || kept.get(key)?.token.secret !== token) return;
      kept.delete(key);
      doubtedAt.set(installationOf(key), now());
    },
    forget: () => kept.clear(),
  };
}

function keyFor({ id }: GithubInstallation, use: TokenUse): string {
  return use.kind === 'api' ? `${id} api` : `${id} ${use.access} ${use.repository}`;
}

function installationOf(key: string): string {
  return key.slice(0, key.indexOf(' '));
}

function readToken(data: unknown, madeAt: number): Kept | undefined {
  if (typeof data !== 'object' || data === null || !('token' in data)) return undefined;
  if (typeof data.token !== 'string' || data.token === '') return undefined;
  // GitHub's clock may differ from ours: a lifetime counts from our time.
  return {
    token: { kind: 'token', secret: new Secret(data.token), madeAt },
    until: madeAt + LIFETIME_MS,
  };
}
