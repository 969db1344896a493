/**
 * Which installation of the App has a repository. GitHub is asked once an hour for each, and again after an event about
 * installations, or an answer that no longer fits.
 */
import { createLru } from '../../../src/git/support/lru.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import type { Exchange, Exchanged } from './exchange.ts';
import type { GithubCall } from './port.ts';
import { ownerAndName } from './repository-name.ts';
import { createSingleFlight } from './single-flight.ts';

/** As GitHub describes it, as far as we need it. */
export interface GithubInstallation {
  readonly id: number;
  readonly slug: string;
  /** `read`, `write` or `admin` by name. */
  readonly permissions: { readonly [name: string]: string };
}

/** Every other kind is an answer that the caller passes on. */
export type FoundInstallation =
  | { readonly kind: 'installed'; readonly installation: GithubInstallation }
  | Exclude<Exchanged, { kind: 'ok' }>;

/** Of one App at one host. */
export interface Installations {
  /** @throws the signal's reason. */
  find(call: GithubCall): Promise<FoundInstallation>;
  /** Asks GitHub at the next use. @param repository `owner/name`; absent: all, after an event about installations. */
  forget(repository?: string): void;
}

const MOST = 10_000;
const KEPT_MS = 3_600_000;
/** A repository without the App is asked for by every event of its tenants. */
const ABSENCE_KEPT_MS = 60_000;

interface Kept {
  readonly found: FoundInstallation;
  /** On the monotonic clock, milliseconds. */
  readonly until: number;
}

/** @param exchange requests go out as the App. */
export function createInstallations(exchange: Exchange, clock: Clock, lifetime: AbortSignal): Installations {
  const known = createLru<string, Kept>(MOST);
  const flights = createSingleFlight<FoundInstallation>();

  async function ask(call: GithubCall): Promise<FoundInstallation> {
    const { repository, steps } = call;
    const answer = await exchange(
      {
        operation: 'apps/get-repo-installation',
        route: 'GET /repos/{owner}/{repo}/installation',
        parameters: ownerAndName(repository),
        cost: { resource: 'core', isWrite: false, createsContent: false },
        isRepeatable: true,
      },
      { key: 'app', token: undefined },
      { repository, weight: 'final', signal: lifetime, ...(steps && { steps }) },
    );
    const found = judge(answer, repository);
    const ms = found.kind === 'installed' ? KEPT_MS : found.kind === 'denied' ? ABSENCE_KEPT_MS : 0;
    if (ms > 0) known.set(repository, { found, until: clock.monotonic() + ms });
    return found;
  }

  return {
    async find(call) {
      const { repository, signal } = call;
      const kept = known.get(repository);
      if (kept !== undefined && kept.until > clock.monotonic()) return kept.found;
      return flights.run(repository, () => ask(call), signal);
    },
    forget(repository) {
      if (repository === undefined) known.clear();
      else known.delete(repository);
    },
  };
}

function judge(answer: Exchanged, repository: string): FoundInstallation {
  if (answer.kind === 'refused')
    return {
      kind: 'denied',
      text:
        answer.status === 404
          ? `the GitHub App is not installed on ${repository}, or the repository does not exist: install it there, or take the project out of the tenant`
          : answer.text,
    };
  if (answer.kind === 'unauthorized')
    return {
      kind: 'denied',
      text: `GitHub does not accept the App: check app_id and app_key (${answer.text})`,
    };
  return answer.kind === 'ok' ? readInstallation(answer.data, repository) : answer;
}

function readInstallation(data: unknown, repository: string): FoundInstallation {
  if (typeof data !== 'object' || data === null || !('id' in data) || typeof data.id !== 'number')
    return {
      kind: 'outage',
      reason: 'other',
      text: `GitHub described the installation on ${repository} without an id`,
      until: null,
      isSent: false,
    };
  if ('suspended_at' in data && typeof data.suspended_at === 'string')
    return {
      kind: 'denied',
      text: `the installation of the GitHub App on ${repository} is suspended: its owner can unsuspend it`,
    };
  const slug = 'app_slug' in data && typeof data.app_slug === 'string' ? data.app_slug : '';
  return {
    kind: 'installed',
    installation: {
      id: data.id,
      slug,
      permissions: readPermissions('permissions' in data ? data.permissions : {}),
    },
  };
}

function readPermissions(value: unknown): { readonly [name: string]: string } {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([, level]) => typeof level === 'string'));
}
